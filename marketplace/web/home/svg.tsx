/** @jsxRuntime automatic @jsxImportSource preact */
import type { Assets } from "../../../shared/page/assets.ts";
import { ButtonLink } from "../../../shared/page/button.tsx";
import { KeyValues } from "../../../shared/page/table.tsx";
import { svgProducts } from "../../svg/products.ts";
import { creditsOf, usdcOf } from "../money.tsx";

const products = [
  ["Trace an image", svgProducts["svg-vectorize"].price],
  ["Draw from a prompt", svgProducts["svg-generate"].price],
  ["Draw in high detail", svgProducts["svg-generate-hd"].price],
] as const;

/** What the tracer makes of a small picture, side by side. */
export function SvgSection({ assets }: { assets: Assets }) {
  return (
    <section class="section later">
      <div class="wrap cols cols-5-7">
        <div class="stack stack-6">
          <div class="section-head">
            <div>
              <h2>Pixels in, clean SVG out</h2>
              <p>
                Trace an image or draw from a sentence. Few paths, real curves, separate layers, and a score that says
                how near the result is to what you sent.
              </p>
            </div>
          </div>
          <KeyValues
            lines
            entries={products.map(([name, credits]) => [
              name,
              <>
                {creditsOf(credits)} <span class="faint">= {usdcOf(credits)}</span>
              </>,
            ])}
          />
          <div class="row">
            <ButtonLink href="/svg">Open the workbench</ButtonLink>
          </div>
        </div>
        <Comparison assets={assets} />
      </div>
    </section>
  );
}

function Comparison({ assets }: { assets: Assets }) {
  return (
    <figure class="card">
      <div class="canvas">
        <div class="ba" data-compare="">
          <img
            src={assets.url("lighthouse.svg")}
            alt="A lighthouse on a cliff before a red sun, traced to SVG"
            width="320"
            height="240"
            loading="lazy"
          />
          <img
            class="ba-before"
            src={assets.url("lighthouse.webp")}
            alt="The same lighthouse as a small PNG"
            width="320"
            height="240"
            loading="lazy"
          />
          <span class="ba-line" />
          <span class="ba-tag ba-tag-a">PNG at 200 %</span>
          <span class="ba-tag ba-tag-b">SVG, 48 paths</span>
          <input type="range" min="0" max="100" value="50" aria-label="Compare: share of the picture before tracing" />
        </div>
      </div>
      <figcaption class="card-foot between num">
        <span>6.7 kB, 16 colours, 13 layers</span>
        <span>
          score <b class="strong">0.995</b>
        </span>
      </figcaption>
    </figure>
  );
}
