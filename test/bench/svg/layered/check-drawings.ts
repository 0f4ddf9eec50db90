import { drawing, g, ground, type LayeredDrawing, range } from "./drawing.ts";
import { word } from "./stroke-letters.ts";

const penguin = drawing(
  460,
  520,
  ground(460, 520, "#d7ecf7"),
  g(
    "ice",
    `<path d="M30 440L120 420H350L430 446L390 500H70z" fill="#f4fbff"/><path d="M70 500L30 440L90 458L120 500z" fill="#b9d9ea"/>`,
  ),
  g(
    "penguin",
    `<ellipse cx="230" cy="290" rx="104" ry="150" fill="#22303f"/><ellipse cx="230" cy="320" rx="70" ry="112" fill="#ffffff"/>`,
    `<circle cx="230" cy="140" r="72" fill="#22303f"/><circle cx="205" cy="130" r="13" fill="#ffffff"/><circle cx="255" cy="130" r="13" fill="#ffffff"/>`,
    `<circle cx="207" cy="132" r="6" fill="#101418"/><circle cx="253" cy="132" r="6" fill="#101418"/><path d="M214 152H246L230 174z" fill="#f39c2d"/>`,
  ),
  g(
    "scarf",
    `<path d="M158 190C200 214 260 214 302 190L308 222C260 246 200 246 152 222z" fill="#c8324c"/><path d="M270 226L300 216L316 300L284 306z" fill="#a62440"/>`,
  ),
  g(
    "fish",
    `<path d="M330 300C350 270 400 270 420 300C400 330 350 330 330 300z" fill="#5aa2c9"/><path d="M414 300L446 280V320z" fill="#3f7fa5"/><circle cx="352" cy="296" r="5" fill="#123"/>`,
  ),
);

const coffee = drawing(
  480,
  420,
  ground(480, 420, "#f7efe5"),
  g(
    "saucer",
    `<ellipse cx="220" cy="340" rx="180" ry="34" fill="#c9d6df"/><ellipse cx="220" cy="332" rx="120" ry="18" fill="#aebcc7"/>`,
  ),
  g(
    "cup",
    `<path d="M110 160H330C330 260 300 330 220 334C140 330 110 260 110 160z" fill="#ffffff"/><path d="M322 190C380 180 390 260 306 272L310 254C356 248 352 204 320 208z" fill="#ffffff"/>`,
    `<ellipse cx="220" cy="160" rx="110" ry="26" fill="#e3e9ee"/><ellipse cx="220" cy="163" rx="94" ry="19" fill="#5b3a22"/>`,
  ),
  g(
    "biscuit",
    `<circle cx="370" cy="318" r="40" fill="#d69a4c"/>${range(5)
      .map((i) => `<circle cx="${352 + (i % 3) * 18}" cy="${304 + (i >> 1) * 15}" r="5" fill="#6b421c"/>`)
      .join("")}`,
  ),
  g(
    "steam",
    `<path d="M180 130C160 100 200 80 180 40L188 40C210 80 170 100 190 130zM250 130C230 100 270 80 250 40L258 40C280 80 240 100 260 130z" fill="#d8c7b4"/>`,
  ),
);

const rocket = drawing(
  460,
  520,
  ground(460, 520, "#141b33"),
  g(
    "planet",
    `<circle cx="370" cy="120" r="70" fill="#d98c5f"/><path d="M303 100C340 116 400 110 437 100L440 118C400 130 340 134 300 118z" fill="#b96f45"/>`,
  ),
  g(
    "flame",
    `<path d="M180 400H250C256 450 230 480 215 510C200 480 174 450 180 400z" fill="#ff9f1c"/><path d="M196 400H234C236 430 224 450 215 466C206 450 194 430 196 400z" fill="#ffe066"/>`,
  ),
  g("fin-left", `<path d="M160 300L110 390L170 400z" fill="#c0263b"/>`),
  g("fin-right", `<path d="M270 300L320 390L260 400z" fill="#c0263b"/>`),
  g(
    "rocket",
    `<path d="M215 60C270 110 280 220 262 400H168C150 220 160 110 215 60z" fill="#eef1f6"/><path d="M215 60C242 85 257 120 264 160H166C173 120 188 85 215 60z" fill="#d7374f"/>`,
    `<circle cx="215" cy="220" r="34" fill="#39517d"/><circle cx="215" cy="220" r="24" fill="#8fd3f4"/>`,
  ),
  ...range(4).map((i) =>
    g(`star-${i}`, `<circle cx="${50 + i * 31}" cy="${60 + ((i * 97) % 260)}" r="6" fill="#fff6d6"/>`),
  ),
);

const cactus = drawing(
  420,
  520,
  ground(420, 520, "#fbe9dd"),
  g(
    "shelf",
    `<rect y="450" width="420" height="34" fill="#9c6b45"/><rect y="484" width="420" height="8" fill="#7d5333"/>`,
  ),
  g(
    "cactus",
    `<rect x="150" y="120" width="90" height="240" rx="45" fill="#3f9156"/><path d="M240 260H280V190A20 20 0 0 1 320 190V280A30 30 0 0 1 290 300H240z" fill="#3f9156"/>`,
    `<path d="M150 230H124V180A18 18 0 0 0 88 180V250A26 26 0 0 0 114 268H150z" fill="#3f9156"/><path d="M190 140H200V350H190z" fill="#2d7041"/>`,
    `<circle cx="195" cy="116" r="20" fill="#f26d9c"/><circle cx="195" cy="116" r="8" fill="#ffd24d"/>`,
  ),
  g(
    "pot",
    `<path d="M120 350H270L252 450H138z" fill="#d2693c"/><rect x="108" y="330" width="174" height="34" rx="6" fill="#e67f50"/>`,
  ),
  g(
    "watering-can",
    `<path d="M310 380H390V450H310z" fill="#4a7fb0"/><path d="M310 400L270 376L276 368L310 384z" fill="#3b6a96"/>`,
  ),
);

const burger = drawing(
  500,
  420,
  ground(500, 420, "#fff4d6"),
  g("plate", `<ellipse cx="250" cy="360" rx="220" ry="40" fill="#dfe7ec"/>`),
  g("bun-below", `<path d="M90 300H410V326C410 350 390 360 370 360H130C110 360 90 350 90 326z" fill="#d9954a"/>`),
  g("patty", `<rect x="80" y="254" width="340" height="50" rx="25" fill="#5e3620"/>`),
  g("cheese", `<path d="M84 244H416L350 258L300 286L250 258H84z" fill="#ffc53d"/>`),
  g(
    "salad",
    `<path d="M76 220C100 210 400 210 424 220C430 244 410 252 390 240C370 256 350 256 330 240C310 256 290 256 270 240C250 256 230 256 210 240C190 256 170 256 150 240C130 256 100 252 76 220z" fill="#67b346"/>`,
  ),
  g(
    "bun-above",
    `<path d="M86 222C80 120 150 70 250 70C350 70 420 120 414 222z" fill="#e5a657"/>${range(9)
      .map(
        (i) =>
          `<ellipse cx="${160 + (i % 5) * 44 + (i > 4 ? 22 : 0)}" cy="${i > 4 ? 110 : 150}" rx="9" ry="5" fill="#fff1d0"/>`,
      )
      .join("")}`,
  ),
);

const umbrella = drawing(
  460,
  540,
  ground(460, 540, "#e4ebf1"),
  g("puddle", `<ellipse cx="230" cy="500" rx="170" ry="24" fill="#9cc0dc"/>`),
  g(
    "woman",
    `<circle cx="230" cy="210" r="44" fill="#f2c8a2"/><path d="M186 212C180 150 280 150 274 212L280 260H262L258 196C240 190 220 190 202 196L198 260H180z" fill="#5a2f1c"/>`,
    `<circle cx="215" cy="212" r="4" fill="#222"/><circle cx="245" cy="212" r="4" fill="#222"/>`,
    `<rect x="200" y="440" width="22" height="56" fill="#2b3a55"/><rect x="238" y="440" width="22" height="56" fill="#2b3a55"/>`,
    `<path d="M196 256H264L300 440H160z" fill="#e0b12f"/><path d="M200 270L150 340L166 352L206 310z" fill="#c99a20"/>`,
  ),
  g(
    "umbrella",
    `<path d="M60 150C80 40 330 20 390 140C350 126 320 130 300 146C270 126 250 126 226 148C200 128 170 130 148 150C120 130 90 132 60 150z" fill="#b3364a"/><path d="M222 60L232 60L286 330L276 334z" fill="#3a3a3a"/>`,
  ),
  g(
    "bag",
    `<path d="M270 350H350V420H270z" fill="#7b4b94"/><path d="M286 350C286 316 334 316 334 350H324C324 328 296 328 296 350z" fill="#5d3572"/>`,
  ),
);

const board = drawing(
  640,
  420,
  ground(640, 420, "#eef0f4"),
  g("bar", `<rect width="640" height="56" fill="#2d3e6f"/>`),
  g("title", word("PLANS", 24, 38, 20, "#ffffff", 3)),
  ...range(3).map((i) => {
    const x = 30 + i * 200;
    const card = (k: number) =>
      g(
        `card-${i}-${k}`,
        `<rect x="${x + 14}" y="${140 + k * 90}" width="152" height="74" rx="8" fill="#ffffff"/><rect x="${x + 26}" y="${154 + k * 90}" width="44" height="10" fill="${["#e85d75", "#3fb68b", "#f2b134"][(i + k) % 3]}"/><rect x="${x + 26}" y="${176 + k * 90}" width="120" height="8" fill="#c5cad6"/><rect x="${x + 26}" y="${192 + k * 90}" width="84" height="8" fill="#c5cad6"/>`,
      );
    return (
      g(`column-${i}`, `<rect x="${x}" y="80" width="180" height="320" rx="12" fill="#dbe0ea"/>`) +
      g(`head-${i}`, word(["TODO", "DOING", "DONE"][i]!, x + 18, 118, 15, "#414b66", 2.4)) +
      range(3 - i)
        .map(card)
        .join("")
    );
  }),
);

const lines = drawing(
  600,
  360,
  ground(600, 360, "#ffffff"),
  g("axes", `<path d="M68 40H72V300H560V304H68z" fill="#58606e"/>`),
  g(
    "grid",
    range(4)
      .map((i) => `<rect x="72" y="${60 + i * 60}" width="488" height="1.5" fill="#e2e5ea"/>`)
      .join(""),
  ),
  g(
    "sales",
    `<path d="M80 260L180 200L280 220L380 120L480 140L550 70" fill="none" stroke="#2f6fed" stroke-width="5"/>`,
  ),
  g(
    "costs",
    `<path d="M80 280L180 262L280 270L380 226L480 232L550 190" fill="none" stroke="#ef6f3c" stroke-width="5"/>`,
  ),
  ...["JAN", "MAR", "MAY", "JUL"].map((name, i) => g(`label-${i}`, word(name, 100 + i * 130, 334, 15, "#58606e", 2.2))),
);

const bird = drawing(
  520,
  420,
  ground(520, 420, "#eaf6ee"),
  g("branch", `<path d="M0 330C140 300 300 330 520 290V312C320 352 150 326 0 352z" fill="#7a5636"/>`),
  ...[
    [60, 300],
    [420, 280],
    [470, 330],
  ].map(([x, y], i) =>
    g(
      `leaf-${i}`,
      `<path d="M${x} ${y}C${x! + 10} ${y! - 50} ${x! + 50} ${y! - 50} ${x! + 60} ${y! - 46}C${x! + 54} ${y! - 14} ${x! + 30} ${y! + 6} ${x} ${y}z" fill="#58a55c"/>`,
    ),
  ),
  g(
    "bird",
    `<path d="M140 240C140 150 210 110 280 120C350 126 370 180 360 230C350 290 290 316 240 312C180 308 140 290 140 240z" fill="#4c8ed9"/>`,
    `<path d="M356 236L450 250L446 276L344 268z" fill="#386fb0"/><path d="M170 270C190 300 240 314 280 300C270 250 210 236 170 270z" fill="#fbe3c0"/>`,
    `<path d="M230 200C280 180 340 200 350 250C300 270 250 260 230 200z" fill="#386fb0"/><circle cx="190" cy="180" r="14" fill="#ffffff"/><circle cx="188" cy="182" r="7" fill="#1c1c1c"/>`,
    `<path d="M146 196L104 210L144 222z" fill="#f5a623"/>`,
  ),
  g(
    "nest",
    `<path d="M20 260H140C136 300 110 320 80 320C50 320 24 300 20 260z" fill="#a9803f"/><ellipse cx="60" cy="258" rx="18" ry="12" fill="#e9f0f5"/><ellipse cx="98" cy="258" rx="18" ry="12" fill="#e9f0f5"/>`,
  ),
);

const street = drawing(
  640,
  420,
  g("background", `<rect width="640" height="420" fill="#cfe8f5"/>`),
  g("pavement", `<rect y="340" width="640" height="80" fill="#a7adb5"/>`),
  g(
    "house-1",
    `<rect x="40" y="160" width="160" height="190" fill="#e9c9a0"/><path d="M26 164L120 80L214 164z" fill="#9e4a3a"/><rect x="66" y="190" width="40" height="44" fill="#5d8aa8"/><rect x="134" y="190" width="40" height="44" fill="#5d8aa8"/><rect x="100" y="270" width="44" height="80" fill="#6a4428"/>`,
  ),
  g(
    "house-2",
    `<rect x="200" y="110" width="150" height="240" fill="#d77a61"/><rect x="192" y="96" width="166" height="20" fill="#8d4433"/>${range(
      6,
    )
      .map((i) => `<rect x="${222 + (i % 2) * 64}" y="${136 + (i >> 1) * 66}" width="42" height="42" fill="#f3e2b3"/>`)
      .join("")}`,
  ),
  g(
    "tree",
    `<rect x="432" y="240" width="24" height="110" fill="#6b4a2f"/><circle cx="444" cy="190" r="78" fill="#5f9e52"/>`,
  ),
  g(
    "bench",
    `<rect x="500" y="300" width="110" height="12" fill="#815530"/><rect x="500" y="270" width="110" height="12" fill="#815530"/><rect x="510" y="270" width="8" height="80" fill="#444c55"/><rect x="592" y="270" width="8" height="80" fill="#444c55"/>`,
  ),
  g("sun", `<circle cx="580" cy="70" r="38" fill="#ffd34f"/>`),
);

/** Held back: looked at in figures only, after a rule is made. */
export const checkDrawings: Readonly<Record<string, LayeredDrawing>> = {
  "penguin with a fish": penguin,
  coffee,
  rocket,
  cactus,
  burger,
  umbrella,
  board,
  "line chart": lines,
  bird,
  street,
};
