import type { Answers, Endpoint } from "./endpoint.ts";
import type { EnvReader } from "./env.ts";
import { ApiError } from "./errors.ts";

const dayMs = 86_400_000;

/** The operator's address to which people write about a weakness: a mailto: or https: URL. */
export function readSecurityContact(env: EnvReader): string | undefined {
  const contact = env.optional("SECURITY_CONTACT");
  if (contact === undefined || /^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/.test(contact)) return contact;
  return env.problem("SECURITY_CONTACT must be a mailto: or https: URL", undefined);
}

/** GET /.well-known/security.txt (RFC 9116); `notFound`, a 404, where the operator has named no contact. */
export function securityTxtEndpoint<Access extends string>(
  contact: string | undefined,
  access: Access,
  notFound: Answers,
): Endpoint<Access, "Service"> {
  return {
    method: "get",
    path: "/.well-known/security.txt",
    id: "getSecurityContact",
    tag: "Service",
    summary: "Where to report a weakness.",
    description: "Answers the contact that the operator has named, as RFC 9116 has it.",
    access,
    answers: {
      200: {
        content: ["text/plain"],
        example: "Contact: mailto:security@example.com\nExpires: 2026-04-01T09:30:00.000Z\n",
      },
      ...notFound,
    },
    handler: (_request, response) => {
      if (contact === undefined) throw new ApiError("not_found", "No contact is named here.");
      const expires = new Date(Date.now() + 30 * dayMs).toISOString();
      response.type("text/plain").send(`Contact: ${contact}\nExpires: ${expires}\n`);
    },
  };
}
