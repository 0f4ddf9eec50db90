/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { Money } from "../../marketplace/web/money.tsx";
import { PriceList } from "../../marketplace/web/price-list.tsx";
import { Badge } from "../../shared/page/badge.tsx";
import { Button, ButtonLink, GoLink } from "../../shared/page/button.tsx";
import { Callout } from "../../shared/page/callout.tsx";
import { Card } from "../../shared/page/card.tsx";
import { Bars } from "../../shared/page/chart.tsx";
import { Code } from "../../shared/page/code.tsx";
import { Hash } from "../../shared/page/copy.tsx";
import { Dialog } from "../../shared/page/dialog.tsx";
import { Disclosure } from "../../shared/page/disclosure.tsx";
import { Empty } from "../../shared/page/empty.tsx";
import { AreaField, Choice, SelectField, Switch, TextField } from "../../shared/page/field.tsx";
import { Pagination } from "../../shared/page/pagination.tsx";
import { Rail } from "../../shared/page/rail.tsx";
import { Stats } from "../../shared/page/stats.tsx";
import type { StopState } from "../../shared/page/stop-states.ts";
import { KeyValues, Table } from "../../shared/page/table.tsx";
import { Crumbs, Segments, Tabs } from "../../shared/page/tabs.tsx";
import { Time } from "../../shared/page/time.tsx";

const states: readonly StopState[] = ["done", "bad", "maybe", "now", "ahead", "end"];
const tones = ["ok", "warn", "bad", "maybe", "info"] as const;
const hash = "0x9f2c4e51b7a830d6f1e2c3b4a5968778695a4b3c2d1e0f";
const at = new Date("2026-03-02T09:30:00Z");

/** Every component of the kit, in its states. */
export function KitGallery() {
  return (
    <main class="wrap page stack stack-8">
      <h1>The kit</h1>
      <Controls />
      <Fields />
      <Data />
      <States />
    </main>
  );
}

function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="stack">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Controls() {
  return (
    <Part title="Controls">
      <div class="row">
        <Button look="primary" icon="play" cost="12 credits">
          Run
        </Button>
        <Button>Plain</Button>
        <Button look="ghost">Ghost</Button>
        <Button look="danger">Revoke</Button>
        <Button look="danger-solid">Revoke it</Button>
        <Button disabled>Disabled</Button>
        <Button size="small" icon="download">
          Small
        </Button>
        <ButtonLink href="/" size="large">
          Large link
        </ButtonLink>
        <Button icon="close" aria-label="Close" />
        <GoLink href="/">Go on</GoLink>
      </div>
      <Crumbs trail={[{ href: "/", label: "Start" }]} here="Kit" />
      <Tabs
        label="Parts"
        tabs={[
          { href: "/kit", label: "Try", isCurrent: true },
          { href: "/", label: "API", isCurrent: false },
        ]}
      />
      <Segments
        label="Sides"
        tabs={[
          { href: "/kit", label: "Left", isCurrent: true },
          { href: "/", label: "Right", isCurrent: false },
        ]}
      />
      <PriceList
        label="Prices"
        items={[
          { href: "/", name: "ada/summarizer", credits: 5 },
          { href: "/", name: "lin/rates", credits: 0 },
        ]}
      />
      <Pagination label="Pages of rows" first="/" next="/" said="25 to 48 of 214" />
    </Part>
  );
}

function Fields() {
  return (
    <Part title="Fields">
      <TextField id="plain" name="plain" label="Plain" help="What it is for." note="optional" value="text" />
      <TextField id="wrong" name="wrong" label="Amount" type="number" value={7} error="Between 20 and 400." />
      <AreaField id="area" name="area" label="Text" code value="Several lines" rows={3} />
      <SelectField id="tone" name="tone" label="Tone" choices={[{ value: "a", label: "neutral" }]} value="a" />
      <Choice name="free" label="Free" help="No account." count={12} checked />
      <Switch name="live" label="Live" checked />
    </Part>
  );
}

function Data() {
  const rows = [
    { when: at, credits: 5 },
    { when: at, credits: 1_240 },
  ];
  return (
    <Part title="Data">
      <Stats
        stats={[
          { name: "Runs", value: "1,284" },
          { name: "Median", value: "2.4", unit: "s", note: "of 30 days" },
        ]}
      />
      <Card id="runs" title="Runs" icon="activity" aside={<Badge tone="ok">live</Badge>} foot="Two rows." bare>
        <Table
          label="Runs, newest first"
          rows={rows}
          columns={[
            { head: "When", cell: ({ when }) => <Time at={when} show="moment" /> },
            { head: "Price", isNumber: true, cell: ({ credits }) => <Money credits={credits} /> },
          ]}
        />
      </Card>
      <Card id="facts" title="Facts">
        <KeyValues
          lines
          entries={[
            ["Transaction", <Hash value={hash} label="Copy transaction" />],
            ["Day", <Time at={at} />],
          ]}
        />
        <Money credits={12} size="large" />
      </Card>
      <Bars
        id="chart"
        sentence="Runs of three days; most on the second."
        bars={[
          { label: "1 March", value: 12 },
          { label: "2 March", value: 30, second: 4 },
          { label: "3 March", value: 7 },
        ]}
        names={{ label: "Day", value: "Runs", second: "Failed" }}
      />
      <Code id="snippet" title="Terminal">
        curl http://127.0.0.1/a/very/long/address/that/does/not/fit/into/a/phone/and/has/to/be/scrolled/sideways
      </Code>
      <Disclosure summary="More" open>
        <p>What was hidden.</p>
      </Disclosure>
    </Part>
  );
}

function States() {
  return (
    <Part title="States">
      <div class="row">
        {tones.map((tone) => (
          <Badge tone={tone} dot>
            {tone}
          </Badge>
        ))}
        <Badge line>plain</Badge>
      </div>
      {tones.map((tone) => (
        <Callout tone={tone} title={`It is ${tone}`}>
          Nothing was charged.
        </Callout>
      ))}
      <Rail stops={states.map((state) => ({ name: state, state, time: "+2 s", say: "what happened" }))} />
      <Empty icon="search" title="Nothing yet" action={<Button>Run one</Button>}>
        Runs would be here.
      </Empty>
      <Button type="button" data-dialog="ask">
        Ask
      </Button>
      <Dialog
        id="ask"
        title="The price rose from 5 to 6 credits"
        actions={
          <Button type="button" data-close="">
            Leave it
          </Button>
        }
      >
        <p>Nothing was charged.</p>
      </Dialog>
    </Part>
  );
}
