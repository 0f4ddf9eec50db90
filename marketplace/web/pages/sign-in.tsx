/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { ApiError } from "../../../shared/errors.ts";
import { parse } from "../../parse.ts";
import { linkEnded } from "../../sign-in/email-links.ts";
import { emailRequest, enterAtProvider, enterByLink, nextOf, sendLink } from "../../sign-in/enter.ts";
import { demoWalletPath } from "../demo-wallet.ts";
import { signInPath } from "../layout.tsx";
import type { Page, Shown, View, Visit } from "../page.ts";
import { SignInBox } from "../sign-in-box.tsx";
import { nameOf, type Viewer } from "../viewer.ts";
import {
  type Asked,
  Confirmation,
  EndedLink,
  LinkSent,
  type Problem,
  type SignInNeeds,
  Ways,
} from "./sign-in-forms.tsx";

const islands = ["sign-in-wallet.js"];
const scriptBytesMax = 5_120;

/**
 * The ways in: a link by e-mail, a provider, a passkey, a wallet. A link's page opens nothing by being loaded, since mail scanners
 * load it too.
 */
export function signInPage(needs: SignInNeeds): Page {
  return {
    path: "/sign-in",
    scriptBytesMax,
    show: async ({ viewer, query }) => {
      const asked: Asked = { next: nextOf(query.get("next")), email: "" };
      const token = query.get("token");
      if (token !== null) return confirmationOf(needs, viewer, token, asked);
      if (viewer) return { redirect: asked.next };
      return waysOf(needs, asked, query.has("refused") ? providerRefused : undefined);
    },
    submit: { bytesMax: 4_096, take: (visit, form) => enter(needs, visit, form) },
  };
}

/**
 * Whoever mails their own link to another would have them sign in, and pay, as somebody else: it says whose it is. One that opens nothing
 * is said to at once, and not when its button is pressed.
 */
async function confirmationOf(
  needs: SignInNeeds,
  viewer: Viewer | undefined,
  token: string,
  asked: Asked,
): Promise<View> {
  const email = await needs.signIn.links.addressOf(token);
  if (email === undefined) return endedOf(needs, viewer, asked);
  const before = viewer && viewer.session.email !== email ? nameOf(viewer) : undefined;
  return viewOf(<Confirmation token={token} next={asked.next} email={email} before={before} />);
}

/** Whoever opens their own link twice is signed in: they go on from there. */
function endedOf(needs: SignInNeeds, viewer: Viewer | undefined, asked: Asked): View {
  const { status, message } = linkEnded();
  if (!viewer) return waysOf(needs, asked, { status, message });
  return { ...viewOf(<EndedLink why={message} next={asked.next} viewer={nameOf(viewer)} />), status };
}

const noStore = { "cache-control": "no-store" };

const providerRefused: Problem = {
  status: 200,
  message: "Single sign-on did not work. The provider has to vouch for your e-mail address; begin again.",
};

async function enter(needs: SignInNeeds, visit: Visit, form: URLSearchParams): Promise<Shown> {
  const asked: Asked = { next: nextOf(form.get("next")), email: form.get("email") ?? "" };
  try {
    return await enterBy(form.get("way"), needs, visit, form, asked);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    const field = error.body.field === "email" ? ("email" as const) : undefined;
    const message = field ? "That is no e-mail address." : error.message;
    return waysOf(needs, asked, { status: error.status, message, field }, error.headers);
  }
}

async function enterBy(
  way: string | null,
  needs: SignInNeeds,
  { request, response }: Visit,
  form: URLSearchParams,
  { next }: Asked,
): Promise<Shown> {
  if (way === "link") {
    await enterByLink(needs, request, response, form.get("token") ?? "");
    return { redirect: next };
  }
  if (way === "provider") return onwardTo(await enterAtProvider(needs, request, response, next));
  const { email } = parse(emailRequest, { email: form.get("email") ?? "" }, "bad_request");
  const link = await sendLink(needs, request, email, next);
  return viewOf(<LinkSent email={email} link={link} again={signInPath(next)} />);
}

/** Not by a redirect: a form's policy would have to name every address that the provider's own sign-in goes by. */
function onwardTo(url: string): View {
  return {
    ...viewOf(
      <SignInBox title="Single sign-on">
        <p>
          You go on to your provider.{" "}
          <a class="link" href={url}>
            Continue
          </a>
        </p>
      </SignInBox>,
    ),
    headers: { ...noStore, refresh: `0;url=${url}` },
  };
}

function waysOf(needs: SignInNeeds, asked: Asked, problem?: Problem, headers?: View["headers"]): View {
  return {
    ...viewOf(
      <>
        <Ways needs={needs} asked={asked} problem={problem} />
        {needs.config.demoWalletScript && <script src={demoWalletPath} defer />}
      </>,
    ),
    islands: needs.signIn.ways.passkey ? [...islands, "sign-in-passkey.js"] : islands,
    status: problem?.status ?? 200,
    headers: { ...noStore, ...headers },
  };
}

function viewOf(body: ComponentChildren): View {
  // A link's token can be in the address, and an e-mail address on the page.
  return { title: "Sign in", isPrivate: true, headers: noStore, body };
}
