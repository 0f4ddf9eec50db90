/** @jsxRuntime automatic @jsxImportSource preact */
export function AccountLink({ handle, label = handle }: { handle: string; label?: string }) {
  return (
    <a class="link" href={`/admin/accounts/${handle}`}>
      {label}
    </a>
  );
}
