import { drawing, g, ground, type LayeredDrawing, range } from "./drawing.ts";
import { word } from "./stroke-letters.ts";

const phone = drawing(
  420,
  560,
  ground(420, 560, "#eaeaf4"),
  g(
    "phone",
    `<rect x="90" y="30" width="240" height="500" rx="34" fill="#20232b"/><rect x="104" y="60" width="212" height="440" rx="6" fill="#ffffff"/><rect x="180" y="40" width="60" height="8" rx="4" fill="#4a4f5c"/>`,
  ),
  g("header", `<rect x="104" y="60" width="212" height="60" fill="#5b5bd6"/>`),
  g("title", word("INBOX", 160, 101, 22, "#ffffff", 3.4)),
  ...range(3).map(
    (i) =>
      g(`row-${i}`, `<circle cx="138" cy="${170 + i * 80}" r="22" fill="${["#f2a33a", "#3aa76d", "#d6304a"][i]}"/>`) +
      g(
        `line-${i}`,
        `<rect x="174" y="${158 + i * 80}" width="116" height="9" fill="#c3c6d4"/><rect x="174" y="${176 + i * 80}" width="80" height="9" fill="#dfe1ea"/>`,
      ),
  ),
  g(
    "button",
    `<circle cx="276" cy="456" r="28" fill="#5b5bd6"/><path d="M272 442H280V452H290V460H280V470H272V460H262V452H272z" fill="#ffffff"/>`,
  ),
);

const donut = drawing(
  540,
  340,
  ground(540, 340, "#fcfcfd"),
  g("title", word("BUDGET", 40, 46, 24, "#1d2733", 3.6)),
  ...[
    ["M170 80A110 110 0 0 1 275 223L227 207A60 60 0 0 0 170 130z", "#3867d6"],
    ["M275 223A110 110 0 0 1 81 255L121 225A60 60 0 0 0 227 207z", "#20bf6b"],
    ["M81 255A110 110 0 0 1 170 80V130A60 60 0 0 0 121 225z", "#f7b731"],
  ].map(([d, fill], i) => g(`arc-${i}`, `<path d="${d}" fill="${fill}"/>`)),
  ...["HOME", "FOOD", "TRAVEL"].map(
    (name, i) =>
      g(`dot-${i}`, `<circle cx="350" cy="${140 + i * 50}" r="11" fill="${["#3867d6", "#20bf6b", "#f7b731"][i]}"/>`) +
      g(`entry-${i}`, word(name, 374, 149 + i * 50, 18, "#3b4654", 2.6)),
  ),
);

const stacked = drawing(
  560,
  360,
  ground(560, 360, "#ffffff"),
  ...range(4).map((i) => {
    const [low, middle, high] = [60 + i * 18, 40 + ((i * 37) % 50), 30 + ((i * 23) % 40)];
    const x = 100 + i * 100;
    return (
      g(`low-${i}`, `<rect x="${x}" y="${300 - low}" width="60" height="${low}" fill="#264653"/>`) +
      g(`middle-${i}`, `<rect x="${x}" y="${300 - low - middle}" width="60" height="${middle}" fill="#2a9d8f"/>`) +
      g(`high-${i}`, `<rect x="${x}" y="${300 - low - middle - high}" width="60" height="${high}" fill="#e9c46a"/>`)
    );
  }),
  g("axis", `<rect x="70" y="303" width="430" height="3" fill="#667"/>`),
  ...["SPRING", "SUMMER", "AUTUMN", "WINTER"].map((name, i) =>
    g(`label-${i}`, word(name, 98 + i * 100, 334, 13, "#445", 2)),
  ),
);

const shopLogo = drawing(
  600,
  260,
  ground(600, 260, "#fff8ef"),
  g(
    "bag",
    `<path d="M60 90H190L204 220H46z" fill="#d1495b"/><path d="M90 110V80C90 40 160 40 160 80V110H146V82C146 58 104 58 104 82V110z" fill="#7d2a36"/>`,
  ),
  g("name", word("MARKET", 240, 140, 52, "#3d2b1f", 9)),
  g("underline", `<rect x="240" y="160" width="318" height="7" fill="#edae49"/>`),
  g("claim", word("FRESH EVERY DAY", 242, 204, 20, "#7a6a5c", 3)),
);

const seaside = drawing(
  640,
  400,
  g("background", `<rect width="640" height="400" fill="#a8dcf0"/>`),
  g("sun", `<circle cx="110" cy="80" r="42" fill="#ffcf40"/>`),
  g("sea", `<rect y="210" width="640" height="120" fill="#2f86b5"/>`),
  g("beach", `<path d="M0 320Q200 290 400 316T640 300V400H0z" fill="#f0d9a4"/>`),
  g(
    "boat",
    `<path d="M330 240H470L446 276H354z" fill="#8c3b2a"/><path d="M398 120V232H330z" fill="#ffffff"/><path d="M406 140V232H456z" fill="#f4a259"/>`,
  ),
  g(
    "umbrella",
    `<rect x="166" y="250" width="7" height="110" fill="#7a5a3a"/><path d="M90 260C100 200 240 200 250 260z" fill="#e4572e"/>`,
  ),
  g(
    "ball",
    `<circle cx="500" cy="350" r="28" fill="#ffffff"/><path d="M500 322A28 28 0 0 1 524 364L500 350z" fill="#d7263d"/><path d="M476 364A28 28 0 0 1 500 322V350z" fill="#1b998b"/>`,
  ),
);

const mountains = drawing(
  640,
  400,
  g(
    "background",
    `<defs><linearGradient id="e" x2="0" y2="1"><stop stop-color="#ffb88c"/><stop offset="1" stop-color="#ffe9d6"/></linearGradient></defs><rect width="640" height="400" fill="url(#e)"/>`,
  ),
  g(
    "mountain-1",
    `<path d="M-10 320L150 110L310 320z" fill="#6c5b7b"/><path d="M150 110L196 170L160 160L140 176L104 170z" fill="#ffffff"/>`,
  ),
  g(
    "mountain-2",
    `<path d="M230 320L420 80L620 320z" fill="#4b3f63"/><path d="M420 80L470 140L430 132L404 150L372 141z" fill="#ffffff"/>`,
  ),
  g("meadow", `<path d="M0 300Q320 270 640 300V400H0z" fill="#6a994e"/>`),
  g("tent", `<path d="M250 370L320 280L390 370z" fill="#e76f51"/><path d="M304 370L320 300L336 370z" fill="#7f2f1d"/>`),
  g(
    "pine-1",
    `<rect x="92" y="340" width="12" height="30" fill="#5a3b22"/><path d="M60 344L98 250L136 344z" fill="#2d5a34"/>`,
  ),
  g(
    "pine-2",
    `<rect x="520" y="350" width="12" height="30" fill="#5a3b22"/><path d="M486 354L526 252L566 354z" fill="#2d5a34"/>`,
  ),
);

/** Charts, pages and scenes: nothing is tuned on these. */
export const unseenPages: Readonly<Record<string, LayeredDrawing>> = {
  phone,
  "donut chart": donut,
  "stacked bars": stacked,
  "shop logo": shopLogo,
  seaside,
  mountains,
};
