/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { ApiError } from "../../../shared/errors.ts";
import { ButtonLink } from "../../../shared/page/button.tsx";
import { Callout } from "../../../shared/page/callout.tsx";
import { Crumbs } from "../../../shared/page/tabs.tsx";
import { findShownAgent, type LiveAgent } from "../../agents/find.ts";
import { type ReportNeeds, reportAgent } from "../../reports/report-agent.ts";
import type { Page, View, Visit } from "../page.ts";
import { emptyForm, type Filled, ReportForm, reportBytesMax, saidIn } from "../report/report-form.tsx";
import { agentPicture } from "../share-picture/picture-of.ts";

/** Says to the operator what is wrong with an agent. */
export function reportPage(needs: ReportNeeds): Page {
  return {
    path: "/{handle}/{slug}/report",
    scriptBytesMax: 4_096,
    show: async ({ params }) => formView(await findShownAgent(needs, addressIn(params)), emptyForm),
    submit: {
      bytesMax: reportBytesMax,
      take: (visit, form) => take(needs, visit, form),
    },
  };
}

const addressIn = ({ handle, slug }: Visit["params"]) => `${handle}/${slug}`;

async function take(needs: ReportNeeds, { params, request }: Visit, form: URLSearchParams): Promise<View> {
  const agent = await findShownAgent(needs, addressIn(params));
  const said = saidIn(form);
  try {
    const { id } = await reportAgent(needs, agent.address, { address: request.ip ?? "", said });
    return thanksView(agent, id);
  } catch (refusal) {
    if (!(refusal instanceof ApiError) || refusal.status >= 500 || refusal.code === "not_found") throw refusal;
    return formView(agent, { ...said, refusal });
  }
}

function formView(agent: LiveAgent, filled: Filled): View {
  const { refusal } = filled;
  return {
    status: refusal?.status,
    headers: refusal?.headers,
    title: `Report ${agent.version.name}`,
    picture: agentPicture(agent.address, agent.version.name),
    isPrivate: true,
    islands: ["typed.js"],
    body: (
      <Frame agent={agent}>
        <p class="lede">
          This goes to the operator of this service, who can take an agent off the market. Its creator is not told who
          you are.
        </p>
        {refusal?.code === "rate_limited" && (
          <Callout tone="warn" title="Not taken" role="alert">
            {refusal.message}
          </Callout>
        )}
        <ReportForm action={`/${agent.address}/report`} back={`/${agent.address}`} filled={filled} />
      </Frame>
    ),
  };
}

function thanksView(agent: LiveAgent, id: string): View {
  return {
    title: "Reported",
    isPrivate: true,
    body: (
      <Frame agent={agent}>
        <Callout tone="ok" title="The operator has your report" role="status">
          Its number is <code class="icode">{id}</code>. If you gave an address, the answer comes there.
        </Callout>
        <div class="row">
          <ButtonLink href={`/${agent.address}`}>Back to {agent.version.name}</ButtonLink>
          <ButtonLink look="ghost" href="/explore">
            Other agents
          </ButtonLink>
        </div>
      </Frame>
    ),
  };
}

function Frame({ agent, children }: { agent: LiveAgent; children: ComponentChildren }) {
  return (
    <div class="wrap page">
      <div class="cols cols-7-5">
        <div class="stack stack-6">
          <div class="page-head">
            <Crumbs trail={[{ href: `/${agent.address}`, label: agent.address }]} here="Report" />
            <h1>Report {agent.version.name}</h1>
          </div>
          {children}
        </div>
      </div>
    </div>
  );
}
