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

/** For whom: a form is not taken from somebody who signed in as another account meanwhile, in another tab. */
export function ShownToField() {
  const account = useContext(ShownTo);
  return account === undefined ? null : <input type="hidden" name="account" value={account} />;
}
