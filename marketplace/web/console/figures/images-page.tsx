/** @jsxRuntime automatic @jsxImportSource preact */

import { z } from "zod";
import { Badge } from "../../../../shared/page/badge.tsx";
import { Button } from "../../../../shared/page/button.tsx";
import { Empty } from "../../../../shared/page/empty.tsx";
import { Pagination } from "../../../../shared/page/pagination.tsx";
import { Time } from "../../../../shared/page/time.tsx";
import type { Database } from "../../../../shared/postgres.ts";
import { findOwnAgent, listOwnAgents } from "../../../agents/creator-agents.ts";
import type { Files, KeptFile } from "../../../files/files.ts";
import { historyDays } from "../../../history-days.ts";
import { offsetQuery, readQuery } from "../../../query.ts";
import type { Page } from "../../page.ts";
import { ActField } from "../act-field.tsx";
import { consolePage, done } from "../console-page.tsx";
import type { Refusal } from "../refusal.ts";
import { RefusedNote } from "../refused-note.tsx";
import { FiguresFrame } from "./figures-frame.tsx";

const imagesPerPage = 24;
const placeShape = z.object({ offset: offsetQuery("Images").offset });

/** What an agent has drawn, for every buyer; its creator can take each picture down and show it again. */
export function imagesPage({ db, tools }: { readonly db: Database; readonly tools: { readonly files: Files } }): Page {
  return consolePage(
    { db },
    {
      path: "/figures/{slug}/images",
      scriptBytesMax: 4_096,
      notices: {
        hidden: "The image is taken down. Its address answers 410 from now on.",
        shown: "The image is shown again, at the same address.",
        deleted: "The image is deleted, and its room is free.",
      },
      show: async ({ account, params, query }, refusal) => {
        const agent = await findOwnAgent(db, account.id, params.slug ?? "");
        const { offset } = readQuery(placeShape, { offset: (refusal?.form ?? query).get("offset") ?? "" });
        const [agents, files] = await Promise.all([
          listOwnAgents(db, account.id),
          tools.files.list(account.id, { limit: imagesPerPage + 1, offset, agent: agent.slug }),
        ]);
        return {
          title: agent.name,
          lede: `What this agent has drawn, newest first. A picture that you hide is gone for every visitor until you show it again. One that was made for a buyer can be deleted ${historyDays} days after it was made last.`,
          body: (
            <FiguresFrame agent={agent} agents={agents} tab="images">
              <Gallery slug={agent.slug} files={files} offset={offset} refusal={refusal} />
            </FiguresFrame>
          ),
        };
      },
      acts: {
        hide: ({ account, path }, form) => move(tools.files, account.id, { path, form, hidden: true }),
        show: ({ account, path }, form) => move(tools.files, account.id, { path, form, hidden: false }),
        delete: async ({ account, path }, form) => {
          await tools.files.delete(account.id, form.get("name") ?? "");
          return backTo(path, form, "deleted");
        },
      },
    },
  );
}

async function move(
  files: Files,
  accountId: KeptOwner,
  { path, form, hidden }: { path: string; form: URLSearchParams; hidden: boolean },
) {
  await files.setHidden(accountId, form.get("name") ?? "", hidden);
  return backTo(path, form, hidden ? "hidden" : "shown");
}

function backTo(path: string, form: URLSearchParams, notice: "hidden" | "shown" | "deleted") {
  const { offset } = readQuery(placeShape, { offset: form.get("offset") ?? "" });
  return done(offset === 0 ? path : `${path}?offset=${offset}`, notice);
}

type KeptOwner = Parameters<Files["setHidden"]>[0];

function Gallery({ slug, files, offset, refusal }: GalleryProps) {
  const page = files.slice(0, imagesPerPage);
  const path = `/figures/${slug}/images`;
  if (page.length === 0) {
    return (
      <Empty icon="image" title={offset === 0 ? "No picture yet" : "No more pictures"} under="h2">
        Each picture that the agent draws will stand here.
      </Empty>
    );
  }
  return (
    <>
      <RefusedNote refusal={refusal} />
      <ul class="grid">
        {page.map((file, at) => (
          <Picture file={file} number={offset + at + 1} offset={offset} path={path} />
        ))}
      </ul>
      <Pagination
        label="Images"
        said={`${offset + 1} to ${offset + page.length}`}
        first={offset > 0 ? path : undefined}
        next={files.length > imagesPerPage ? `${path}?offset=${offset + imagesPerPage}` : undefined}
      />
    </>
  );
}

interface GalleryProps {
  readonly slug: string;
  readonly files: readonly KeptFile[];
  readonly offset: number;
  readonly refusal: Refusal | undefined;
}

function Picture({ file, number, offset, path }: { file: KeptFile; number: number; offset: number; path: string }) {
  const { name, created_at: at, hidden_at: hidden } = file;
  const place = { name, number, offset, path };
  return (
    <li class="card">
      <div class="card-body stack stack-3">
        <div class="gallery-picture">
          {hidden ? (
            <Badge tone="warn" icon="eye-off">
              hidden
            </Badge>
          ) : (
            <a href={`/files/${name}`}>
              <img src={`/files/${name}`} alt={`Drawn ${number}`} loading="lazy" />
            </a>
          )}
        </div>
        <div class="row between">
          <span class="small dim">
            <Time at={at} show="ago" />
          </span>
          <span class="row">
            <details class="confirm">
              <summary class="btn btn-sm btn-ghost" aria-label={`Delete picture ${number}`}>
                Delete
              </summary>
              <PictureAct act="delete" label="Delete for good" icon="trash" look="danger" {...place} />
            </details>
            <PictureAct {...(hidden ? showIt : hideIt)} {...place} />
          </span>
        </div>
      </div>
    </li>
  );
}

const showIt = { act: "show", label: "Show", icon: "eye" } as const;
const hideIt = { act: "hide", label: "Hide", icon: "eye-off" } as const;

function PictureAct({ act, label, icon, look, name, number, offset, path }: PictureActProps) {
  return (
    <form method="post" action={path}>
      <ActField value={act} />
      <input type="hidden" name="name" value={name} />
      <input type="hidden" name="offset" value={offset} />
      <Button size="small" look={look} icon={icon} aria-label={`${label} picture ${number}`}>
        {label}
      </Button>
    </form>
  );
}

interface PictureActProps {
  readonly act: "hide" | "show" | "delete";
  readonly label: string;
  readonly icon: "eye" | "eye-off" | "trash";
  readonly look?: "danger";
  readonly name: string;
  readonly number: number;
  readonly offset: number;
  readonly path: string;
}
