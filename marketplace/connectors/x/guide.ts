/** What creators and buyers read of the posts that connectors reward. */

export const postSettingNotes = {
  post: "template: the post's address or id",
  rule: "what a post must meet",
  "rule.text": "texts that it or a link in it holds",
  "rule.mentions": "accounts that it mentions",
  "rule.hashtags": "hashtags that it has",
  "rule.likes_min": "likes that it has at least",
  "rule.followers_min": "followers that its author has at least",
  "rule.author_age_days_min": "days that its author's account is old at least",
  "rule.posted_within_days": "days that it is old at most",
  "rule.names_receiver": "it names who is rewarded; else the first to see a post could collect for it",
} as const;

/** The buyer's field of every agent that rewards posts. */
export const postField = {
  name: "post",
  label: "Post",
  type: "url",
  required: true,
  description: "The address of the post on X.",
  example: "https://x.com/somebody/status/1234567890",
} as const;
