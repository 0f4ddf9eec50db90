/** @jsxRuntime automatic @jsxImportSource preact */
import type { ButtonHTMLAttributes, ComponentChildren } from "preact";
import { classes } from "./classes.ts";
import { Icon } from "./icon.tsx";
import type { IconName } from "./icons.tsx";

interface Look {
  /** One primary button in a view. */
  readonly look?: "primary" | "ghost" | "danger" | "danger-solid" | undefined;
  readonly size?: "small" | "large" | undefined;
  readonly block?: boolean | undefined;
  readonly icon?: IconName | undefined;
  /** What pressing it costs, inside the button: `12 credits`. */
  readonly cost?: ComponentChildren;
  readonly class?: string | undefined;
  readonly children?: ComponentChildren;
}

interface ButtonProps
  extends Look,
    Omit<ButtonHTMLAttributes<HTMLButtonElement>, keyof Look | "icon" | "class" | "size"> {}

/** A verb. It submits its form unless `type` says otherwise. */
export function Button({ look, size, block, icon, cost, class: more, children, ...attributes }: ButtonProps) {
  return (
    <button type="submit" {...attributes} class={classOf({ look, size, block, class: more }, children === undefined)}>
      <Content icon={icon} cost={cost}>
        {children}
      </Content>
    </button>
  );
}

interface ButtonLinkProps extends Look {
  readonly href: string;
  readonly target?: "_blank" | undefined;
  readonly [attribute: `aria-${string}` | `data-${string}`]: string | undefined;
}

/** Looks like a button and leads somewhere. */
export function ButtonLink({
  href,
  look,
  size,
  block,
  icon,
  cost,
  class: more,
  children,
  ...attributes
}: ButtonLinkProps) {
  return (
    <a {...attributes} href={href} class={classOf({ look, size, block, class: more }, children === undefined)}>
      <Content icon={icon} cost={cost}>
        {children}
      </Content>
    </a>
  );
}

function Content({ icon, cost, children }: Pick<Look, "icon" | "cost" | "children">) {
  return (
    <>
      {icon && <Icon name={icon} />}
      {children}
      {cost !== undefined && <span class="btn-price">{cost}</span>}
    </>
  );
}

const sizes = { small: "btn-sm", large: "btn-lg" } as const;

function classOf({ look, size, block, class: more }: Look, isIconAlone: boolean): string {
  return classes(
    "btn",
    look && `btn-${look}`,
    size && sizes[size],
    block && "btn-block",
    isIconAlone && "btn-icon",
    more,
  );
}

/** A link that goes on to more of the same, with an arrow. */
export function GoLink({ href, children, class: more }: { href: string; children: ComponentChildren; class?: string }) {
  return (
    <a class={classes("go", more)} href={href}>
      {children} <Icon name="arrow-right" />
    </a>
  );
}
