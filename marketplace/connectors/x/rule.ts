import { z } from "zod";
import type { Problem } from "../../parse.ts";
import type { Call, Tools } from "../connector.ts";
import { refuseInput } from "../refusal.ts";
import { fillingOf, fillText } from "../template.ts";
import { caseless, noSuchPost, type XPost } from "./client.ts";

const dayMs = 86_400_000;
const word = z.string().regex(/^[\p{L}\p{M}\p{N}_]{1,100}$/u, "must be given without # or @");

/** What a post must be to be rewarded. Everything that is said must hold. */
const ruleSetting = z.strictObject({
  /** Templates: each must be in the post or in a link of it, whatever its case. */
  text: z.array(z.string().min(1).max(500)).max(10).default([]),
  mentions: z.array(word).max(10).default([]),
  hashtags: z.array(word).max(10).default([]),
  likes_min: z.int().min(0).default(0),
  followers_min: z.int().min(0).default(0),
  author_age_days_min: z.int().min(0).max(36_500).default(0),
  posted_within_days: z.int().min(1).max(3_650).optional(),
  /** The post must name who is rewarded: otherwise the first buyer to see it collects for another author's post. */
  names_receiver: z.boolean().default(true),
});

/** Settings of every connector that rewards posts. */
export const postSettings = {
  /** Template: the post's URL or id. */
  post: z.string().min(1).max(500).default("{{post}}"),
  rule: ruleSetting,
};

/** A day's limit that no reward keeps within. Asked at publishing alone: versions from before this was a rule are read all the same. */
export function dayProblems(amount: bigint, perDayMax: bigint): Problem[] {
  return amount <= perDayMax ? [] : [{ path: ["per_day_max"], message: "must be at least amount" }];
}

/** The id of the post that a call speaks of. Throws RefusalError when it names none. */
export function requirePostLink({ settings, ...call }: PostCall): string {
  const text = fillText(settings.post, fillingOf(call)).trim();
  const id = postId(text);
  if (id === undefined) throw refuseInput(settings.post, "bad_request", "This is no link to a post on X.");
  if (!isIdOfX(id)) throw refuseInput(settings.post, "invalid_value", noSuchPost);
  return id;
}

/** Counts a call that names a post before the post is read. Throws RefusalError where it names none, or is one too many. */
export async function admitClaim(call: PostCall, { x }: Pick<Tools, "x">): Promise<void> {
  requirePostLink(call);
  await x.admitClaim(call.agent.ownerId, call.caller);
}

/**
 * The post that a call names. `receiver` is the part of the post that names the rewarded account: it must be text that no
 * caller could choose so that other people's posts contain it. Throws RefusalError when there is no such post, or not one
 * that the rule is about.
 */
export async function rewardedPost(call: PostCall, { x }: Pick<Tools, "x">, receiver: string): Promise<XPost> {
  const { settings, signal } = call;
  const filling = fillingOf(call);
  const refuse = (message: string) => refuseInput(settings.post, "invalid_value", message);
  const post = await x.post(requirePostLink(call), signal);
  if (typeof post === "string") throw refuse(post);
  const wanted = settings.rule.text.map((template) => fillText(template, filling));
  const [missing] = missingIn(post, { ...settings.rule, text: wanted }, receiver);
  if (missing) throw refuse(`The post cannot be rewarded: ${missing}.`);
  return post;
}

type PostCall = Call<PostSettings>;

export interface PostSettings {
  readonly post: string;
  readonly rule: z.infer<typeof ruleSetting>;
}

function postId(text: string): string | undefined {
  return /^(?:https:\/\/(?:(?:www|mobile)\.)?(?:x|twitter)\.com\/\w{1,15}\/status\/)?(\d{1,19})(?:[/?#]\S*)?$/i.exec(
    text,
  )?.[1];
}

/** X gives out 1 to 2^63 - 1. */
const isIdOfX = (id: string) => BigInt(id) > 0n && BigInt(id) < 2n ** 63n;

function missingIn(post: XPost, rule: PostSettings["rule"], receiver: string): string[] {
  const said = [post.text, ...post.links];
  const ageDays = (Date.now() - post.author.createdAt.getTime()) / dayMs;
  const problems: Array<string | false> = [
    post.isRepost && "it only passes on another post",
    rule.names_receiver &&
      !namesWhole(post.text, caseless(receiver)) &&
      `it does not say ${receiver}, which names who is rewarded`,
    ...rule.text.map((part) => !said.some((one) => one.includes(caseless(part))) && `it does not say “${part}”`),
    ...rule.mentions.map((name) => !post.mentions.includes(caseless(name)) && `it does not mention @${name}`),
    ...rule.hashtags.map((tag) => !post.hashtags.includes(caseless(tag)) && `it does not have #${tag}`),
    post.likes < rule.likes_min && `it has fewer than ${rule.likes_min} likes`,
    post.author.followers < rule.followers_min && `its author has fewer than ${rule.followers_min} followers`,
    !(ageDays >= rule.author_age_days_min) && `its author's account is younger than ${rule.author_age_days_min} days`,
    rule.posted_within_days !== undefined &&
      !(Date.now() - post.createdAt.getTime() <= rule.posted_within_days * dayMs) &&
      `it is older than ${rule.posted_within_days} days`,
  ];
  return problems.filter((problem) => problem !== false);
}

/** Whether the text has the name as a word of its own: 0.0.12 is not named by 0.0.123 or 10.0.12. */
function namesWhole(text: string, name: string): boolean {
  const literal = name.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  const inWord = "[\\p{L}\\p{M}\\p{N}_]";
  return new RegExp(`(?<!${inWord}|${inWord}[.-])${literal}(?!${inWord}|[.-]${inWord})`, "u").test(text);
}
