/** @jsxRuntime automatic @jsxImportSource preact */
import { type IconName, icons } from "./icons.tsx";

/** A drawing beside words that say the same; it says nothing by itself. */
export function Icon({ name, size }: { name: IconName; size?: "large" | undefined }) {
  const Drawing = icons[name];
  return (
    <svg class={size === "large" ? "icon icon-lg" : "icon"} viewBox="0 0 24 24" aria-hidden="true">
      <Drawing />
    </svg>
  );
}

/** The drawing in a box that stands for a kind of thing. */
export function Glyph({ icon, size }: { icon: IconName; size?: "large" | undefined }) {
  return (
    <span class={size === "large" ? "glyph glyph-lg" : "glyph"}>
      <Icon name={icon} />
    </span>
  );
}
