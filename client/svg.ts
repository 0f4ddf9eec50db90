import { type ChargingOptions, postOnce } from "./charging.ts";
import type { HttpClient } from "./http-client.ts";
import { type ImageSource, imageText } from "./image.ts";
import type { BodyOf, VectorGraphics } from "./shapes.ts";

/** Drawings, paid with credits. */
export class Svg {
  readonly #http: HttpClient;

  constructor(http: HttpClient) {
    this.#http = http;
  }

  /** A picture as SVG. */
  async vectorize({ image, ...request }: VectorizeRequest, options?: ChargingOptions): Promise<VectorGraphics> {
    const body: BodyOf<"vectorize"> = { image: await imageText(image), ...request };
    return this.#draw("/api/v1/svg/vectorize", body, options);
  }

  /** A prompt as SVG. */
  generate(request: BodyOf<"generateSvg">, options?: ChargingOptions): Promise<VectorGraphics> {
    return this.#draw("/api/v1/svg/generate", request, options);
  }

  async #draw(path: string, body: object, options?: ChargingOptions): Promise<VectorGraphics> {
    const { answer } = await postOnce(this.#http, path, body, options);
    return answer.body as VectorGraphics;
  }
}

export type VectorizeRequest = Omit<BodyOf<"vectorize">, "image"> & { readonly image: ImageSource };
