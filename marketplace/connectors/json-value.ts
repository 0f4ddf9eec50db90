import { z } from "zod";

/** Any JSON; documents say no more of it, since generators of clients stumble over a shape that holds itself. */
export const jsonValue = z.unknown().pipe(z.json());
