/**
 * The word as British and as American English may spell it, itself first. What comes of a word that has no other spelling
 * is in no agent's words and finds nothing.
 */
export function spellingsOf(word: string): string[] {
  const found = new Set([word]);
  for (const [british, american] of differences) {
    for (const spelling of [...found]) {
      found.add(spelling.replace(british[0], british[1]));
      found.add(spelling.replace(american[0], american[1]));
    }
  }
  return [...found].slice(0, spellingsMax);
}

const spellingsMax = 6;

type Replacement = readonly [ending: RegExp, instead: string];

/** How each ending is written on the other side: summarise and summarize, colour and color, centre and center. */
const differences: ReadonlyArray<readonly [toAmerican: Replacement, toBritish: Replacement]> = [
  [
    [/(?<=\w{2})is(?=(?:e|ed|er|ers|es|ing|ation|ations)$)/, "iz"],
    [/(?<=\w{2})iz(?=(?:e|ed|er|ers|es|ing|ation|ations)$)/, "is"],
  ],
  [
    [/(?<=\w)ys(?=(?:e|ed|er|ers|es|ing)$)/, "yz"],
    [/(?<=\w)yz(?=(?:e|ed|er|ers|es|ing)$)/, "ys"],
  ],
  [
    [/(?<=\w{2})our(?=(?:s|ed|er|ers|ing|ite|ites|ful|able|ation)?$)/, "or"],
    [/(?<=\w{2})or(?=(?:s|ed|er|ers|ing|ite|ites|ful|able|ation)?$)/, "our"],
  ],
  [
    [/(?<=\w[bcdgtv])re(?=s?$)/, "er"],
    [/(?<=\w[bcdgtv])er(?=s?$)/, "re"],
  ],
  [
    [/(?<=\w)ogue(?=s?$)/, "og"],
    [/(?<=\w)og(?=s?$)/, "ogue"],
  ],
  [
    [/(?<=\wl)l(?=(?:ed|er|ers|ing|ings)$)/, ""],
    [/(?<=\w[aeiou]l)(?=(?:ed|er|ers|ing|ings)$)/, "l"],
  ],
  [
    [/(?<=\w{2}en)c(?=es?$)/, "s"],
    [/(?<=\w{2}en)s(?=es?$)/, "c"],
  ],
];
