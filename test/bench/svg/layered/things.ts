import { drawing, g, ground, type LayeredDrawing } from "./drawing.ts";
import { word } from "./stroke-letters.ts";

const badge = drawing(
  420,
  420,
  ground(420, 420, "#ffffff"),
  g(
    "ribbon",
    `<path d="M130 250L90 390L150 360L190 400L210 270z" fill="#1d4e89"/><path d="M290 250L330 390L270 360L230 400L210 270z" fill="#1d4e89"/>`,
  ),
  g("medal", `<circle cx="210" cy="180" r="140" fill="#f6c445"/><circle cx="210" cy="180" r="112" fill="#e0a82e"/>`),
  g(
    "star",
    `<path d="M210 90L234 150L298 152L248 192L266 254L210 218L154 254L172 192L122 152L186 150z" fill="#fff7dc"/>`,
  ),
);

const cup = drawing(
  400,
  400,
  ground(400, 400, "#f9efe4"),
  g(
    "saucer",
    `<ellipse cx="190" cy="330" rx="150" ry="30" fill="#d7cfc4"/><ellipse cx="190" cy="326" rx="100" ry="16" fill="#c3b9ab"/>`,
  ),
  g("handle", `<path d="M280 200C350 190 350 290 270 280L274 260C320 266 320 216 282 222z" fill="#b8442f"/>`),
  g(
    "cup",
    `<path d="M90 160H290C290 260 270 330 190 330C110 330 90 260 90 160z" fill="#d9573f"/><ellipse cx="190" cy="160" rx="100" ry="22" fill="#f3dcc8"/><ellipse cx="190" cy="163" rx="86" ry="15" fill="#5a3522"/>`,
  ),
  g("steam", `<path d="M160 130C140 110 180 96 160 70C170 66 196 96 172 128z" fill="#cdbfb0"/>`),
  g("steam-2", `<path d="M216 130C196 110 236 96 216 70C226 66 252 96 228 128z" fill="#cdbfb0"/>`),
);

const rocket = drawing(
  400,
  520,
  ground(400, 520, "#0f1b3d"),
  g(
    "flame",
    `<path d="M165 400C160 450 190 470 200 510C210 470 240 450 235 400z" fill="#ff7b2e"/><path d="M182 400C180 430 194 444 200 466C206 444 220 430 218 400z" fill="#ffd166"/>`,
  ),
  g("left-fin", `<path d="M140 290L90 380V420L150 390z" fill="#d6304a"/>`),
  g("right-fin", `<path d="M260 290L310 380V420L250 390z" fill="#d6304a"/>`),
  g(
    "hull",
    `<path d="M200 40C260 100 275 220 255 400H145C125 220 140 100 200 40z" fill="#eef1f6"/>`,
    `<path d="M200 40C228 68 246 108 256 152H144C154 108 172 68 200 40z" fill="#d6304a"/>`,
    `<circle cx="200" cy="220" r="38" fill="#9fb0c8"/><circle cx="200" cy="220" r="27" fill="#3fa7d6"/>`,
  ),
);

const emblem = drawing(
  440,
  440,
  ground(440, 440, "#f5f5f0"),
  g("wheel", `<circle cx="220" cy="220" r="190" fill="#7b2d26"/><circle cx="220" cy="220" r="164" fill="#f0c808"/>`),
  g(
    "peak",
    `<path d="M90 300L190 140L240 220L270 180L350 300z" fill="#264653"/><path d="M190 140L216 182L196 176L180 190L166 178z" fill="#ffffff"/>`,
  ),
  g(
    "scroll",
    `<path d="M30 300H410V350H30z" fill="#fdf0d5"/><path d="M30 300L10 325L30 350zM410 300L430 325L410 350z" fill="#d9c49a"/>`,
  ),
  g("motto", word("ALPINE CLUB", 96, 338, 26, "#7b2d26", 4)),
);

const teapot = drawing(
  520,
  380,
  ground(520, 380, "#eef2ee"),
  g("tray", `<rect x="40" y="310" width="440" height="24" rx="12" fill="#8d6e53"/>`),
  g("spout", `<path d="M150 230C100 220 110 160 70 150L82 132C130 140 136 190 170 190z" fill="#3f7f93"/>`),
  g("handle", `<path d="M330 170C400 160 400 270 326 270L328 250C372 250 372 186 330 192z" fill="#3f7f93"/>`),
  g(
    "pot",
    `<ellipse cx="240" cy="230" rx="104" ry="82" fill="#4f9fb8"/><path d="M146 216C180 236 300 236 334 216L338 240C300 258 180 258 142 240z" fill="#e7f3f5"/>`,
  ),
  g(
    "lid",
    `<path d="M176 156C190 128 290 128 304 156C270 170 210 170 176 156z" fill="#2d5f70"/><circle cx="240" cy="122" r="14" fill="#e0a458"/>`,
  ),
  g("cup", `<path d="M400 250H476C476 290 462 310 438 310C414 310 400 290 400 250z" fill="#e0a458"/>`),
);

const ship = drawing(
  600,
  420,
  ground(600, 420, "#cfe8f5"),
  g("sea", `<path d="M0 330Q75 310 150 330T300 330T450 330T600 330V420H0z" fill="#2a6f97"/>`),
  g(
    "hull",
    `<path d="M110 270H500L450 350H170z" fill="#b23a48"/><rect x="110" y="262" width="390" height="16" fill="#fbf5f3"/>`,
  ),
  g(
    "cabin",
    `<rect x="200" y="190" width="200" height="72" fill="#fbf5f3"/><circle cx="236" cy="226" r="14" fill="#2a6f97"/><circle cx="300" cy="226" r="14" fill="#2a6f97"/><circle cx="364" cy="226" r="14" fill="#2a6f97"/>`,
  ),
  g(
    "funnel",
    `<rect x="270" y="110" width="60" height="80" fill="#f2a541"/><rect x="270" y="128" width="60" height="18" fill="#22333b"/>`,
  ),
  g(
    "smoke",
    `<path d="M310 100a22 22 0 0 1 30-24a26 26 0 0 1 48 6a20 20 0 0 1 4 38H330a18 18 0 0 1-20-20z" fill="#9aa5ad"/>`,
  ),
);

const outlined = drawing(
  460,
  460,
  ground(460, 460, "#ffffff"),
  g(
    "leaves",
    `<path d="M226 130C180 120 150 70 170 40C210 50 236 90 232 130z" fill="#7bc96f" stroke="#24302a" stroke-width="5" stroke-linejoin="round"/>`,
  ),
  g(
    "apple",
    `<path d="M230 140C300 100 380 150 370 250C362 340 290 400 230 370C170 400 98 340 90 250C80 150 160 100 230 140z" fill="#e63946" stroke="#24302a" stroke-width="5"/><ellipse cx="150" cy="210" rx="18" ry="34" fill="#ff8c94"/>`,
  ),
  g(
    "worm",
    `<path d="M340 300C380 280 400 300 398 330C396 360 430 360 434 330L448 334C444 380 384 384 380 336C380 322 370 312 350 322z" fill="#f4d35e" stroke="#24302a" stroke-width="5" stroke-linejoin="round"/>`,
  ),
);

/** Things of parts that touch. */
export const things: Readonly<Record<string, LayeredDrawing>> = {
  badge,
  cup,
  rocket,
  emblem,
  teapot,
  ship,
  outlined,
};
