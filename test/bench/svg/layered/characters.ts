import { drawing, g, ground, type LayeredDrawing } from "./drawing.ts";

/** A fox that reads: body, tail and book touch; head and body are one. */
const readingFox = drawing(
  480,
  480,
  ground(480, 480, "#fdf6ec"),
  g(
    "tail",
    `<path d="M300 380C400 400 450 320 420 230C400 190 360 220 370 270C376 310 340 330 290 320z" fill="#c9591f"/>`,
    `<path d="M420 230C400 190 360 220 370 270C385 255 405 245 425 250z" fill="#fff3e0"/>`,
  ),
  g(
    "body",
    `<path d="M150 420C140 300 180 250 240 250C300 250 330 310 320 420z" fill="#e8772e"/>`,
    `<path d="M200 420C196 340 215 300 238 300C262 300 276 340 272 420z" fill="#fff3e0"/>`,
    `<path d="M150 180L160 70L210 120H270L320 70L330 180C330 250 290 280 240 280C190 280 150 250 150 180z" fill="#e8772e"/>`,
    `<path d="M166 200C190 190 220 210 240 240C260 210 290 190 314 200C305 250 275 275 240 275C205 275 175 250 166 200z" fill="#fff3e0"/>`,
    `<circle cx="200" cy="180" r="12" fill="#33251d"/><circle cx="280" cy="180" r="12" fill="#33251d"/>`,
    `<ellipse cx="240" cy="238" rx="14" ry="10" fill="#33251d"/>`,
  ),
  g(
    "book",
    `<path d="M140 330L240 350L340 330V430L240 450L140 430z" fill="#2b6cb0"/>`,
    `<path d="M152 326L236 344V436L152 418z" fill="#fffdf7"/><path d="M328 326L244 344V436L328 418z" fill="#f2ecdf"/>`,
  ),
);

const owl = drawing(
  420,
  480,
  ground(420, 480, "#e6f0f5"),
  g("branch", `<path d="M20 400C140 380 280 390 400 370V400C280 415 140 410 20 425z" fill="#6b4a2f"/>`),
  g(
    "owl",
    `<ellipse cx="210" cy="260" rx="110" ry="140" fill="#8a6a4f"/>`,
    `<ellipse cx="210" cy="300" rx="70" ry="90" fill="#e8d6ba"/>`,
    `<circle cx="170" cy="190" r="42" fill="#fff"/><circle cx="250" cy="190" r="42" fill="#fff"/>`,
    `<circle cx="176" cy="194" r="20" fill="#2a211b"/><circle cx="244" cy="194" r="20" fill="#2a211b"/>`,
    `<path d="M200 215H220L210 240z" fill="#f0a020"/>`,
  ),
  g(
    "hat",
    `<path d="M130 130L210 20L290 130C240 150 180 150 130 130z" fill="#6a3fa0"/>`,
    `<path d="M140 116C180 136 240 136 280 116L290 130C240 150 180 150 130 130z" fill="#f2c94c"/>`,
    `<circle cx="210" cy="24" r="14" fill="#f2c94c"/>`,
  ),
);

const robot = drawing(
  440,
  520,
  ground(440, 520, "#ffffff"),
  g(
    "antenna",
    `<rect x="214" y="30" width="12" height="50" fill="#6c7a89"/><circle cx="220" cy="28" r="16" fill="#e74c3c"/>`,
  ),
  g(
    "head",
    `<rect x="130" y="80" width="180" height="130" rx="26" fill="#4aa3df"/>`,
    `<rect x="152" y="104" width="136" height="66" rx="16" fill="#123047"/>`,
    `<circle cx="190" cy="136" r="14" fill="#7df0c8"/><circle cx="250" cy="136" r="14" fill="#7df0c8"/>`,
  ),
  g(
    "left-arm",
    `<path d="M120 240H90C70 240 60 260 60 280V370H96V290H120z" fill="#8fa3b3"/><circle cx="78" cy="384" r="24" fill="#f4b942"/>`,
  ),
  g(
    "right-arm",
    `<path d="M320 240H350C370 240 380 260 380 280V370H344V290H320z" fill="#8fa3b3"/><circle cx="362" cy="384" r="24" fill="#f4b942"/>`,
  ),
  g(
    "body",
    `<rect x="120" y="210" width="200" height="190" rx="20" fill="#2f80c2"/>`,
    `<rect x="160" y="250" width="120" height="70" rx="8" fill="#dfeaf2"/>`,
    `<circle cx="180" cy="350" r="11" fill="#e74c3c"/><circle cx="220" cy="350" r="11" fill="#f4b942"/><circle cx="260" cy="350" r="11" fill="#2ecc71"/>`,
  ),
  g(
    "left-leg",
    `<rect x="150" y="400" width="46" height="70" fill="#8fa3b3"/><rect x="136" y="470" width="70" height="26" rx="8" fill="#44525e"/>`,
  ),
  g(
    "right-leg",
    `<rect x="244" y="400" width="46" height="70" fill="#8fa3b3"/><rect x="234" y="470" width="70" height="26" rx="8" fill="#44525e"/>`,
  ),
);

const penguin = drawing(
  420,
  480,
  ground(420, 480, "#d8ecf7"),
  g("ice", `<path d="M40 420L90 390H330L390 420L350 456H80z" fill="#ffffff"/>`),
  g(
    "penguin",
    `<ellipse cx="210" cy="270" rx="110" ry="150" fill="#22303f"/><ellipse cx="210" cy="300" rx="76" ry="112" fill="#fdfdfd"/>`,
    `<circle cx="210" cy="140" r="78" fill="#22303f"/><circle cx="180" cy="146" r="26" fill="#fdfdfd"/><circle cx="240" cy="146" r="26" fill="#fdfdfd"/>`,
    `<circle cx="184" cy="146" r="9" fill="#111"/><circle cx="236" cy="146" r="9" fill="#111"/><path d="M196 168H224L210 188z" fill="#f39c12"/>`,
    `<ellipse cx="170" cy="416" rx="34" ry="13" fill="#f39c12"/><ellipse cx="250" cy="416" rx="34" ry="13" fill="#f39c12"/>`,
  ),
  g(
    "scarf",
    `<path d="M132 196C180 222 240 222 288 196L294 226C240 252 180 252 126 226z" fill="#c0392b"/><path d="M250 230L288 226L298 320L262 324z" fill="#a93226"/>`,
  ),
);

const rabbit = drawing(
  440,
  480,
  ground(440, 480, "#eaf7e4"),
  g(
    "rabbit",
    `<path d="M150 170C110 100 120 20 150 20C180 20 190 100 190 160z" fill="#cfc6bd"/><path d="M156 150C134 100 138 46 150 46C164 46 172 100 174 148z" fill="#f1b5b5"/>`,
    `<path d="M250 160C250 100 262 20 290 20C320 20 330 100 290 170z" fill="#cfc6bd"/><path d="M266 148C268 100 276 46 290 46C302 46 306 100 284 150z" fill="#f1b5b5"/>`,
    `<ellipse cx="220" cy="370" rx="92" ry="96" fill="#bfb5ab"/><ellipse cx="220" cy="390" rx="56" ry="68" fill="#f5f1ec"/>`,
    `<ellipse cx="220" cy="216" rx="100" ry="84" fill="#cfc6bd"/><circle cx="184" cy="206" r="13" fill="#2d2622"/><circle cx="256" cy="206" r="13" fill="#2d2622"/>`,
    `<ellipse cx="220" cy="242" rx="12" ry="9" fill="#e58f8f"/>`,
  ),
  g(
    "carrot",
    `<path d="M292 330L400 430L316 366z" fill="#ee7f2d"/><path d="M264 300L330 340L300 376z" fill="#ee7f2d"/><path d="M290 330C262 320 246 300 250 280C276 286 290 300 296 322z" fill="#4f9d3a"/>`,
  ),
);

const dog = drawing(
  520,
  420,
  ground(520, 420, "#fbf3e6"),
  g("mat", `<ellipse cx="260" cy="366" rx="220" ry="34" fill="#7aa6c2"/>`),
  g(
    "tail",
    `<path d="M392 270C440 250 460 210 452 170C446 150 424 156 428 178C432 206 416 226 380 238z" fill="#8b5e3c"/>`,
  ),
  g(
    "dog",
    `<path d="M180 240H380C410 240 416 280 410 356H360L350 312H240L230 356H180z" fill="#b07a4f"/>`,
    `<path d="M90 150C90 90 230 90 230 160C230 240 200 270 160 270C120 270 90 230 90 150z" fill="#c58d60"/>`,
    `<path d="M88 130C60 140 50 200 70 230C96 230 108 180 112 140z" fill="#6f4628"/><path d="M222 130C250 140 262 200 246 230C220 230 208 180 206 140z" fill="#6f4628"/>`,
    `<ellipse cx="160" cy="226" rx="36" ry="28" fill="#f3dcc0"/><ellipse cx="160" cy="212" rx="15" ry="10" fill="#2b1a10"/>`,
    `<circle cx="132" cy="170" r="10" fill="#2b1a10"/><circle cx="190" cy="170" r="10" fill="#2b1a10"/>`,
  ),
  g(
    "bowl",
    `<path d="M60 340H150L138 384H72z" fill="#d94f4f"/><ellipse cx="105" cy="340" rx="45" ry="10" fill="#f6d7a7"/>`,
  ),
);

/** Figures with things in their hands. */
export const characters: Readonly<Record<string, LayeredDrawing>> = {
  "reading fox": readingFox,
  owl,
  robot,
  penguin,
  rabbit,
  dog,
};
