import { drawing, g, ground, type LayeredDrawing, range } from "./drawing.ts";
import { word } from "./stroke-letters.ts";

const sectors = (cx: number, cy: number, r: number, shares: readonly number[], colours: readonly string[]) => {
  let from = -Math.PI / 2;
  return shares.map((share, i) => {
    const to = from + share * 2 * Math.PI;
    const at = (a: number) => `${(cx + r * Math.cos(a)).toFixed(2)} ${(cy + r * Math.sin(a)).toFixed(2)}`;
    const d = `M${cx} ${cy}L${at(from)}A${r} ${r} 0 ${share > 0.5 ? 1 : 0} 1 ${at(to)}z`;
    from = to;
    return g(`sector-${i}`, `<path d="${d}" fill="${colours[i]}"/>`);
  });
};

/** Icons on cards: a card, with what lies on it, is one thing; its caption is another. */
const cards = drawing(
  600,
  260,
  ground(600, 260, "#f3f4f8"),
  ...[
    [
      "card-home",
      "HOME",
      `<path d="M60 110L100 74L140 110V150H60z" fill="#3b6fe0"/><rect x="90" y="120" width="20" height="30" fill="#fff"/>`,
    ],
    [
      "card-mail",
      "MAIL",
      `<rect x="60" y="84" width="80" height="60" rx="6" fill="#e0563b"/><path d="M60 90L100 122L140 90V84H60z" fill="#f7c5ba"/>`,
    ],
    [
      "card-user",
      "USER",
      `<circle cx="100" cy="92" r="20" fill="#2a9d6a"/><path d="M62 152C62 124 78 116 100 116C122 116 138 124 138 152z" fill="#2a9d6a"/>`,
    ],
  ].map(
    ([id, name, icon], i) =>
      `<g id="${id}" transform="translate(${i * 190 + 10} 0)"><rect x="20" y="30" width="160" height="200" rx="16" fill="#ffffff"/>${icon}</g>` +
      g(`caption-${i}`, word(name!, i * 190 + 62, 204, 22, "#2b2f3a", 3.2)),
  ),
);

const barChart = drawing(
  560,
  380,
  ground(560, 380, "#ffffff"),
  g("title", word("SALES BY YEAR", 60, 44, 22, "#22303c", 3)),
  g(
    "axes",
    `<rect x="58" y="70" width="3" height="250" fill="#55606b"/><rect x="58" y="318" width="460" height="3" fill="#55606b"/>`,
  ),
  ...[120, 180, 90, 210, 160].map((height, i) =>
    g(
      `bar-${i}`,
      `<rect x="${86 + i * 86}" y="${318 - height}" width="52" height="${height}" fill="${["#4c78a8", "#f58518", "#54a24b", "#e45756", "#b279a2"][i]}"/>`,
    ),
  ),
  ...["01", "02", "03", "04", "05"].map((year, i) => g(`label-${i}`, word(year, 98 + i * 86, 350, 18, "#55606b", 2.6))),
);

const pieChart = drawing(
  520,
  340,
  ground(520, 340, "#ffffff"),
  ...sectors(180, 180, 120, [0.4, 0.25, 0.2, 0.15], ["#2a6fdb", "#f2a33a", "#3aa76d", "#b04ac2"]),
  ...["NORTH", "SOUTH", "EAST", "WEST"].map(
    (name, i) =>
      g(
        `swatch-${i}`,
        `<rect x="350" y="${100 + i * 46}" width="24" height="24" fill="${["#2a6fdb", "#f2a33a", "#3aa76d", "#b04ac2"][i]}"/>`,
      ) + g(`legend-${i}`, word(name, 386, 120 + i * 46, 18, "#333", 2.6)),
  ),
);

const logoWithText = drawing(
  560,
  240,
  ground(560, 240, "#ffffff"),
  g(
    "mark",
    `<circle cx="120" cy="120" r="84" fill="#0b7a75"/><path d="M70 150C90 80 150 80 170 90C160 140 130 165 90 160z" fill="#d7f2c9"/>`,
    `<path d="M66 176C90 140 120 120 160 98L164 104C128 126 100 146 76 180z" fill="#0b7a75"/>`,
  ),
  g("name", word("VERDANT", 236, 122, 46, "#12302e", 8)),
  g("claim", word("GROWING SINCE 1984", 238, 160, 16, "#5f7a77", 2.4)),
);

const desktop = drawing(
  640,
  400,
  ground(640, 400, "#cfd8e3"),
  g("window", `<rect x="40" y="40" width="560" height="320" rx="10" fill="#ffffff"/>`),
  g(
    "bar",
    `<path d="M40 50A10 10 0 0 1 50 40H590A10 10 0 0 1 600 50V80H40z" fill="#2d3142"/><circle cx="64" cy="60" r="7" fill="#ef5350"/><circle cx="88" cy="60" r="7" fill="#ffca28"/><circle cx="112" cy="60" r="7" fill="#66bb6a"/>`,
  ),
  g("sidebar", `<path d="M40 80H180V360H50A10 10 0 0 1 40 350z" fill="#edf0f5"/>`),
  ...["FILES", "PEOPLE", "TRASH"].map((name, i) => g(`entry-${i}`, word(name, 62, 124 + i * 40, 15, "#4f5d75", 2.2))),
  g("heading", word("PHOTOS", 210, 126, 26, "#2d3142", 4)),
  ...range(3).map((i) =>
    g(
      `photo-${i}`,
      `<rect x="${210 + i * 126}" y="150" width="110" height="90" fill="${["#8ecae6", "#ffb703", "#90be6d"][i]}"/><path d="M${210 + i * 126} 240l40 -46 30 30 16 -18 24 34z" fill="${["#219ebc", "#fb8500", "#43aa8b"][i]}"/>`,
    ),
  ),
  g("button", `<rect x="210" y="280" width="130" height="44" rx="22" fill="#ef8354"/>`),
  g("button-text", word("UPLOAD", 234, 310, 16, "#ffffff", 2.6)),
);

const countryside = drawing(
  640,
  420,
  g(
    "background",
    `<defs><linearGradient id="s" x2="0" y2="1"><stop stop-color="#7cc4f5"/><stop offset="1" stop-color="#dff2fd"/></linearGradient></defs><rect width="640" height="420" fill="url(#s)"/>`,
  ),
  g("sun", `<circle cx="530" cy="84" r="44" fill="#ffd54a"/>`),
  g(
    "cloud",
    `<path d="M110 110a30 30 0 0 1 56-16a26 26 0 0 1 44 22a22 22 0 0 1-6 43H118a25 25 0 0 1-8-49z" fill="#ffffff"/>`,
  ),
  g("far-hill", `<path d="M0 300Q160 200 330 280T640 250V420H0z" fill="#7fb069"/>`),
  g("near-hill", `<path d="M0 360Q220 280 420 340T640 330V420H0z" fill="#4f8a45"/>`),
  g(
    "house",
    `<rect x="250" y="230" width="120" height="90" fill="#f4e3c1"/><path d="M236 232L310 170L384 232z" fill="#b5432e"/>`,
    `<rect x="296" y="268" width="30" height="52" fill="#6b4226"/><rect x="262" y="250" width="24" height="24" fill="#8cc6e8"/><rect x="336" y="250" width="24" height="24" fill="#8cc6e8"/>`,
  ),
  g(
    "tree",
    `<rect x="506" y="250" width="18" height="80" fill="#6b4226"/><circle cx="515" cy="226" r="50" fill="#2f6b3a"/>`,
  ),
  g(
    "tree-2",
    `<rect x="112" y="270" width="14" height="60" fill="#6b4226"/><circle cx="119" cy="250" r="38" fill="#3a7d44"/>`,
  ),
);

const night = drawing(
  600,
  400,
  ground(600, 400, "#14213d"),
  g(
    "moon",
    `<circle cx="470" cy="90" r="52" fill="#fcefb4"/><circle cx="452" cy="78" r="10" fill="#e8d795"/><circle cx="486" cy="108" r="14" fill="#e8d795"/>`,
  ),
  ...[
    [80, 60],
    [180, 110],
    [300, 50],
    [380, 140],
    [560, 190],
    [60, 170],
  ].map(([x, y], i) =>
    g(`star-${i}`, `<path d="M${x} ${y! - 9}l2.6 6.4 6.4 2.6-6.4 2.6-2.6 6.4-2.6-6.4-6.4-2.6 6.4-2.6z" fill="#fff"/>`),
  ),
  ...[
    [40, 200, 90, "#2b3a67"],
    [150, 160, 110, "#3a4a7d"],
    [280, 220, 80, "#243056"],
    [380, 180, 100, "#34446f"],
    [490, 240, 80, "#2b3a67"],
  ].map(([x, y, w, fill], i) =>
    g(
      `tower-${i}`,
      `<rect x="${x}" y="${y}" width="${w}" height="${400 - Number(y)}" fill="${fill}"/>`,
      ...range(6).map(
        (k) =>
          `<rect x="${Number(x) + 14 + (k % 2) * (Number(w) - 46)}" y="${Number(y) + 20 + Math.floor(k / 2) * 44}" width="18" height="24" fill="#ffd166"/>`,
      ),
    ),
  ),
);

/** Charts, pages and scenes. */
export const pages: Readonly<Record<string, LayeredDrawing>> = {
  cards,
  "bar chart": barChart,
  "pie chart": pieChart,
  "logo with text": logoWithText,
  desktop,
  countryside,
  night,
};
