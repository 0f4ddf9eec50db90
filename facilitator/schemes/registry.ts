import { type PaymentRequest, type Refusal, refuse, type Scheme } from "./scheme.ts";

/** The schemes this daemon serves, found by exact match of scheme and network. */
export class SchemeRegistry {
  readonly all: readonly Scheme[];

  constructor(schemes: readonly Scheme[]) {
    this.all = schemes;
  }

  find(request: PaymentRequest): Scheme | Refusal {
    const { scheme, network } = request.requirements;
    const onNetwork = this.all.filter((candidate) => candidate.network === network);
    if (onNetwork.length === 0) {
      const supported = this.all.map((candidate) => candidate.network).join(", ");
      return refuse(
        "invalid_network",
        `Network ${request.networkAsGiven} is not supported; supported are ${supported}.`,
      );
    }
    const found = onNetwork.find((candidate) => candidate.scheme === scheme);
    const offered = onNetwork.map((candidate) => candidate.scheme).join(", ");
    return (
      found ?? refuse("unsupported_scheme", `Scheme ${scheme} is not supported on ${network}; supported is ${offered}.`)
    );
  }
}
