/** @jsxRuntime automatic @jsxImportSource preact */
import { Badge } from "../../../../shared/page/badge.tsx";
import { Button, ButtonLink } from "../../../../shared/page/button.tsx";
import { Glyph, Icon } from "../../../../shared/page/icon.tsx";
import { Segments } from "../../../../shared/page/tabs.tsx";
import { type ConnectorKind, connectorKinds } from "../../../connectors/guide.ts";
import type { ListedTemplate } from "../../../drafts/start-draft.ts";
import { connectorIcon } from "../../agent/connector-icon.ts";
import { ActField } from "../act-field.tsx";

interface GalleryProps {
  readonly templates: readonly ListedTemplate[];
  readonly kind: ConnectorKind | undefined;
}

/** Every connector, each with the agent that a creator begins with. */
export function TemplateGallery({ templates, kind }: GalleryProps) {
  const shown = templates.filter(({ connector }) => kind === undefined || connector.guide.kind === kind);
  const kinds = Object.entries(connectorKinds) as [ConnectorKind, string][];
  return (
    <section class="stack" aria-labelledby="templates" id="connectors">
      <div class="row between row-4">
        <div class="grow">
          <h2 id="templates">Start from a connector</h2>
          <p class="small dim">Each comes with a template: fill in what it asks for, and make it yours.</p>
        </div>
        <Segments
          label="Connectors"
          tabs={[
            { href: "/build#connectors", label: `All ${templates.length}`, isCurrent: kind === undefined },
            ...kinds.map(([id, label]) => ({ href: `/build?kind=${id}#connectors`, label, isCurrent: kind === id })),
          ]}
        />
      </div>
      <div class="grid grid-3">
        {shown.map((listed) => (
          <TemplateCard listed={listed} />
        ))}
        {kind === undefined && <NoneOfThese />}
      </div>
    </section>
  );
}

function TemplateCard({ listed: { connector, name, brings, template } }: { listed: ListedTemplate }) {
  const { id, guide, permanent } = connector;
  return (
    <article class="agent">
      <div class="agent-top">
        <Glyph icon={connectorIcon(id)} />
        <div class="grow">
          <h3 class="agent-name">{name}</h3>
          <span class="agent-id">{id}</span>
        </div>
        {permanent && <Badge line>cannot be undone</Badge>}
      </div>
      <p class="build-does">{guide.does}</p>
      {brings && <p class="small faint build-brings">{`You bring: ${brings}.`}</p>}
      <form class="agent-foot" method="post" action="/build">
        <span>
          <Icon name="template" />
          {template.name}
        </span>
        <ActField value="start" />
        <input type="hidden" name="connector" value={id} />
        <Button size="small" class="push" aria-label={`Start from ${name}`}>
          Start
        </Button>
      </form>
    </article>
  );
}

function NoneOfThese() {
  return (
    <article class="agent">
      <div class="agent-top">
        <Glyph icon="unknown" />
        <div class="grow">
          <h3 class="agent-name">None of these</h3>
          <span class="agent-id">http-api</span>
        </div>
      </div>
      <p class="build-does">
        Put your own service behind HTTPS and use the HTTP API connector: it can do what you can.
      </p>
      <div class="agent-foot">
        <span>
          <Icon name="globe" />
          Your own service
        </span>
        <ButtonLink size="small" class="push" href="/docs/connectors">
          Read how
        </ButtonLink>
      </div>
    </article>
  );
}
