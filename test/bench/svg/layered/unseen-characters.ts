import { drawing, g, ground, type LayeredDrawing, range } from "./drawing.ts";
import { word } from "./stroke-letters.ts";

const cat = drawing(
  460,
  480,
  ground(460, 480, "#eef3ff"),
  g(
    "tail",
    `<path d="M300 430C390 440 430 380 400 300C392 280 366 288 372 310C390 370 360 396 300 388z" fill="#55606e"/>`,
  ),
  g("cushion", `<rect x="70" y="410" width="300" height="50" rx="25" fill="#c94f7c"/>`),
  g(
    "cat",
    `<path d="M130 420C110 320 150 240 220 240C290 240 330 320 310 420z" fill="#6d7887"/>`,
    `<path d="M180 420C176 350 194 300 220 300C246 300 264 350 260 420z" fill="#f2f4f7"/>`,
    `<path d="M130 90L150 150C120 220 160 270 220 270C280 270 320 220 290 150L310 90L250 124H190z" fill="#6d7887"/>`,
    `<circle cx="184" cy="190" r="15" fill="#f6d34b"/><circle cx="256" cy="190" r="15" fill="#f6d34b"/>`,
    `<circle cx="184" cy="190" r="6" fill="#1b1e24"/><circle cx="256" cy="190" r="6" fill="#1b1e24"/>`,
    `<path d="M212 218H228L220 228z" fill="#e58aa0"/>`,
  ),
  g(
    "collar",
    `<path d="M158 250C190 274 250 274 282 250L286 266C250 290 190 290 154 266z" fill="#d8343f"/><circle cx="220" cy="288" r="13" fill="#f6c445"/>`,
  ),
);

const bear = drawing(
  480,
  500,
  ground(480, 500, "#fffaf2"),
  g(
    "balloon",
    `<ellipse cx="390" cy="90" rx="56" ry="68" fill="#e2495b"/><path d="M380 156H400L390 146z" fill="#b8323f"/><path d="M388 156C380 220 360 260 352 300L356 301C364 262 386 220 392 156z" fill="#555"/>`,
  ),
  g(
    "bear",
    `<circle cx="130" cy="110" r="34" fill="#7a4e2d"/><circle cx="270" cy="110" r="34" fill="#7a4e2d"/>`,
    `<circle cx="130" cy="110" r="17" fill="#d9a77b"/><circle cx="270" cy="110" r="17" fill="#d9a77b"/>`,
    `<path d="M100 420C70 320 100 250 200 250C300 250 330 320 300 420z" fill="#7a4e2d"/>`,
    `<circle cx="200" cy="180" r="100" fill="#8f5f3a"/>`,
    `<ellipse cx="200" cy="215" rx="46" ry="36" fill="#e2bd96"/><ellipse cx="200" cy="196" rx="16" ry="11" fill="#2c1c10"/>`,
    `<circle cx="162" cy="160" r="10" fill="#2c1c10"/><circle cx="238" cy="160" r="10" fill="#2c1c10"/>`,
  ),
  g(
    "honey-pot",
    `<path d="M140 330H260C280 370 276 420 250 440H150C124 420 120 370 140 330z" fill="#f3b23c"/><rect x="130" y="314" width="140" height="24" rx="10" fill="#f8d891"/>`,
  ),
);

const snail = drawing(
  560,
  360,
  ground(560, 360, "#dff3e4"),
  g("leaf", `<path d="M20 320C140 270 420 270 540 320C420 350 140 350 20 320z" fill="#4a9d5b"/>`),
  g(
    "body",
    `<path d="M90 300C140 260 330 270 380 250C410 236 400 180 440 170C480 164 490 210 470 240C440 300 380 306 90 306z" fill="#f0c987"/><path d="M436 172L424 120L430 118L446 170zM458 170L474 122L480 124L466 174z" fill="#f0c987"/><circle cx="426" cy="116" r="8" fill="#3b2a1a"/><circle cx="478" cy="118" r="8" fill="#3b2a1a"/>`,
  ),
  g(
    "shell",
    `<circle cx="250" cy="190" r="96" fill="#b5653a"/><circle cx="256" cy="196" r="66" fill="#d08b55"/><circle cx="250" cy="198" r="36" fill="#b5653a"/>`,
  ),
);

const shield = drawing(
  420,
  460,
  ground(420, 460, "#f4f6f8"),
  g(
    "shield",
    `<path d="M210 40L350 90V220C350 320 290 380 210 420C130 380 70 320 70 220V90z" fill="#1f3c88"/><path d="M210 64L328 106V220C328 304 280 358 210 394C140 358 92 304 92 220V106z" fill="#3f6fd8"/>`,
  ),
  g("banner", `<path d="M40 250L380 250L360 284L380 318H40L60 284z" fill="#f2c14e"/>`),
  g("motto", word("VALOR", 138, 300, 30, "#4a3410", 5)),
  g("crown", `<path d="M150 200L140 120L178 156L210 104L242 156L280 120L270 200z" fill="#fbe7b2"/>`),
);

const lamp = drawing(
  420,
  440,
  ground(420, 440, "#f2efe9"),
  g(
    "table",
    `<rect x="30" y="360" width="360" height="26" fill="#8a5a34"/><rect x="60" y="386" width="22" height="54" fill="#734a2a"/><rect x="338" y="386" width="22" height="54" fill="#734a2a"/>`,
  ),
  g(
    "lamp",
    `<rect x="132" y="190" width="12" height="150" fill="#44484f"/><ellipse cx="138" cy="348" rx="48" ry="14" fill="#44484f"/><path d="M98 90H178L208 196H68z" fill="#f0b429"/>`,
  ),
  g("books", `<rect x="220" y="330" width="130" height="30" fill="#2f6690"/>`),
  g("book-2", `<rect x="234" y="304" width="110" height="26" fill="#c8553d"/>`),
  g(
    "apple",
    `<circle cx="290" cy="276" r="29" fill="#7cb518"/><path d="M288 250C286 236 294 228 304 226C304 238 298 246 292 250z" fill="#3d5a12"/>`,
  ),
);

const car = drawing(
  600,
  340,
  ground(600, 340, "#e9eef2"),
  g(
    "road",
    `<rect y="270" width="600" height="70" fill="#59626c"/>${range(5)
      .map((i) => `<rect x="${30 + i * 120}" y="302" width="60" height="6" fill="#e8e8e8"/>`)
      .join("")}`,
  ),
  g(
    "car",
    `<path d="M70 250V200C70 180 90 170 130 166L190 110C200 100 210 96 226 96H370C390 96 400 104 412 116L456 164L510 174C530 178 540 190 540 210V250z" fill="#d64045"/>`,
    `<path d="M206 160L226 122C230 116 236 114 242 114H294V160z" fill="#bfe3f2"/><path d="M310 114H366C376 114 382 118 388 126L414 160H310z" fill="#bfe3f2"/>`,
    `<rect x="300" y="176" width="5" height="70" fill="#a02c31"/><ellipse cx="528" cy="206" rx="10" ry="14" fill="#ffe8a3"/>`,
  ),
  g("wheel-1", `<circle cx="166" cy="252" r="42" fill="#22262b"/><circle cx="166" cy="252" r="20" fill="#c3cad1"/>`),
  g("wheel-2", `<circle cx="440" cy="252" r="42" fill="#22262b"/><circle cx="440" cy="252" r="20" fill="#c3cad1"/>`),
);

/** Figures and things: nothing is tuned on these. */
export const unseenCharacters: Readonly<Record<string, LayeredDrawing>> = {
  cat,
  bear,
  snail,
  shield,
  "lamp on a table": lamp,
  car,
};
