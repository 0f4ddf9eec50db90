/** @jsxRuntime automatic @jsxImportSource preact */
import { createContext } from "preact";
import { useContext } from "preact/hooks";

/** The account that a page of the console is shown to. */
export const ShownTo = createContext<string | undefined>(undefined);

/** What a form asks for: one of its page's `acts`. */
export function ActField({ value }: { readonly value: string }) {
  return (
    <>
      <input type="hidden" name="act" value={value} />
      <ShownToField />
    </>
  );
}

/** The account that a form was shown to: it is not taken from a person who signed in as another meanwhile, in another tab. */
export function ShownToField() {
  const account = useContext(ShownTo);
  return account === undefined ? null : <input type="hidden" name="account" value={account} />;
}
