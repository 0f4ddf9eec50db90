/** @jsxRuntime automatic @jsxImportSource preact */
import { ApiError } from "../../../../shared/errors.ts";
import { ButtonLink } from "../../../../shared/page/button.tsx";
import type { Widening } from "../../../../shared/page/policy.ts";
import type { Database } from "../../../../shared/postgres.ts";
import type { Config } from "../../../config.ts";
import { allowAccess, refuseAccess } from "../../../oauth/grants.ts";
import { type AccessRequest, readRequest } from "../../../oauth/requests.ts";
import type { Page } from "../../page.ts";
import { SignInBox } from "../../sign-in-box.tsx";
import { type AccountVisit, type ConsoleView, consolePage } from "../console-page.tsx";
import type { Refusal } from "../refusal.ts";
import { Consent } from "./consent-view.tsx";
import { keyOfForm } from "./key-fields.tsx";

interface Needs {
  readonly db: Database;
  readonly config: Pick<Config, "publicUrl">;
}

/** Asks whether a client may run agents for the person, which, how often and for how much. */
export function consentPage(needs: Needs): Page {
  return consolePage(needs, {
    path: "/consent/{id}",
    scriptBytesMax: 4_096,
    show: async (visit, refusal) => {
      const request = await readRequest(needs.db, visit.params.id ?? "");
      return request ? viewOf(visit, request, refusal) : over;
    },
    leadsTo: async ({ params }) => {
      const request = await readRequest(needs.db, params.id ?? "");
      return request && wideningOf(request);
    },
    acts: {
      allow: async (visit, form) => {
        const request = await requestOf(needs, visit);
        const settings = { ...keyOfForm(form), accountId: visit.account.id };
        return { redirect: await allowAccess(needs, request, settings) };
      },
      refuse: async (visit) => ({ redirect: await refuseAccess(needs, await requestOf(needs, visit)) }),
    },
  });
}

const over: ConsoleView = {
  title: "This request is over",
  status: 404,
  frame: "bare",
  body: (
    <SignInBox
      title="This request is over"
      lede="It was answered already, or waited too long. Whether you allowed it stands under API keys. To be asked again, begin again in the client."
    >
      <ButtonLink href="/settings/keys">To your API keys</ButtonLink>
    </SignInBox>
  ),
};

async function requestOf({ db }: Needs, { params }: AccountVisit): Promise<AccessRequest> {
  const request = await readRequest(db, params.id ?? "");
  if (request) return request;
  throw new ApiError("not_found", "This request was answered already, or waited too long.");
}

/** The form leads to the client, by a redirect. A policy cannot name an IPv6 address, nor the host of a scheme of a program's own. */
function wideningOf({ redirectUri }: AccessRequest): Widening {
  const { protocol, origin, hostname } = new URL(redirectUri);
  return { form: [origin === "null" || hostname.startsWith("[") ? protocol : origin] };
}

function viewOf(visit: AccountVisit, request: AccessRequest, refusal: Refusal | undefined): ConsoleView {
  return {
    title: `“${request.clientName}” wants to run agents as you`,
    frame: "bare",
    widening: wideningOf(request),
    body: <Consent visit={visit} request={request} refusal={refusal} />,
  };
}
