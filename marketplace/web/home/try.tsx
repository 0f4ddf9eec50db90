/** @jsxRuntime automatic @jsxImportSource preact */
import { ApiError } from "../../../shared/errors.ts";
import { Badge } from "../../../shared/page/badge.tsx";
import { Button, GoLink } from "../../../shared/page/button.tsx";
import { Callout } from "../../../shared/page/callout.tsx";
import { duration } from "../../../shared/page/figures.ts";
import { Glyph } from "../../../shared/page/icon.tsx";
import { type AgentDetail, type DescribeNeeds, describeAgent } from "../../agents/detail.ts";
import type { Output } from "../../connectors/result.ts";
import type { Value } from "../../input.ts";
import { type HomeTryNeeds, runHomeTry } from "../../runs/home-try.ts";
import { connectorIcon } from "../agent/connector-icon.ts";
import { exampleInput, inputOfForm } from "../agent/form-input.ts";
import { InputFields } from "../agent/input-fields.tsx";
import { RunOutput } from "../agent/result-card.tsx";

export type TryNeeds = HomeTryNeeds & DescribeNeeds;

/** The agent that can be tried here, as its buyers see it; undefined where none is named, or is not live. */
export async function agentToTry(needs: TryNeeds): Promise<AgentDetail | undefined> {
  const { homeTry } = needs.config;
  if (!homeTry) return undefined;
  return describeAgent(needs, homeTry.agent).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === "not_found") return undefined;
    throw error;
  });
}

/** The result of a try, and the input typed for it. */
export interface Tried {
  readonly values: Readonly<Record<string, Value>>;
  readonly status: number;
  readonly output?: Output | undefined;
  readonly ms?: number;
  /** What the agent, or the service, said instead of a result. */
  readonly problem?: { readonly said: string; readonly field?: string | undefined; readonly isAgents: boolean };
}

/** Runs the form's input. A refusal is told beside it. */
export async function tryAgent(
  needs: TryNeeds,
  { inputs }: AgentDetail,
  from: string,
  form: URLSearchParams,
): Promise<Tried> {
  const values = inputOfForm(inputs, form);
  const began = performance.now();
  try {
    const { success, output, error } = await runHomeTry(needs, from, values);
    if (success) return { values, status: 200, output, ms: performance.now() - began };
    return { values, status: 200, problem: { said: error ?? "It gave no result.", isAgents: true } };
  } catch (error) {
    if (!(error instanceof ApiError) || error.isFault) throw error;
    const { field } = error.body as { field?: string };
    return { values, status: error.status, problem: { said: error.message, field, isAgents: false } };
  }
}

/** One agent to run at once; the operator pays. */
export function TryCard({ agent, tried }: { agent: AgentDetail; tried?: Tried | undefined }) {
  const { agent: address, name, connector, inputs } = agent;
  const wrong = tried?.problem?.field ? { field: tried.problem.field, problem: tried.problem.said } : undefined;
  return (
    <section class="card card-lift" id="try" aria-labelledby="try-title">
      <div class="card-head">
        <Glyph icon={connectorIcon(connector)} />
        <div class="grow">
          <h2 id="try-title">
            <a href={`/${address}`}>{name}</a>
          </h2>
          <span class="agent-id">{address}</span>
        </div>
        <Badge tone="ok">Free here</Badge>
      </div>
      <form class="card-body stack" method="post" action="/#try" data-busy="Running">
        <InputFields fields={inputs} values={tried?.values ?? exampleInput(agent)} wrong={wrong} />
        <div class="row between">
          <span class="small faint">No account needed. Nothing is charged.</span>
          <Button look="primary" icon="play">
            Run
          </Button>
        </div>
      </form>
      {tried && !wrong && <Outcome tried={tried} address={address} />}
    </section>
  );
}

function Outcome({ tried: { output, ms, problem }, address }: { tried: Tried; address: string }) {
  return (
    <div class="card-foot" role="status">
      <div class="stack stack-2 grow">
        {problem && (
          <Callout
            tone={problem.isAgents ? "bad" : "warn"}
            title={problem.isAgents ? "The agent failed" : problem.said}
          >
            {problem.isAgents ? `“${problem.said}” Nothing was charged.` : "Nothing was charged."}
          </Callout>
        )}
        {output && (
          <>
            <div class="row between">
              <span class="row">
                <Badge tone="ok" dot>
                  success
                </Badge>
                <span class="num">{ms === undefined ? "" : duration(ms)}</span>
              </span>
              <span class="row row-3">
                <GoLink href={`/${address}`}>Its page</GoLink>
                <GoLink href={`/${address}/api`}>Same call as code</GoLink>
              </span>
            </div>
            <RunOutput output={output} />
          </>
        )}
      </div>
    </div>
  );
}
