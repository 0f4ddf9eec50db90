/** The fields of a page's form as a browser would post them, untouched. */
export function formIn(html: string, id: string): Record<string, string> {
  const [, form = ""] = new RegExp(`<form[^>]* id="${id}"[^>]*>(.*?)</form>`, "s").exec(html) ?? [];
  return fieldsOf(form);
}

/** All forms of a page that are posted, with where they go; to the page itself when that is empty. */
export function allFormsIn(html: string): Array<{ action: string; fields: Record<string, string> }> {
  return [...html.matchAll(/<form([^>]* method="post"[^>]*)>(.*?)<\/form>/gs)].map(
    ([, attributes = "", form = ""]) => ({
      action: attributeOf(attributes, "action") ?? "",
      fields: fieldsOf(form),
    }),
  );
}

function fieldsOf(form: string): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const [, attributes = ""] of form.matchAll(/<input([^>]*)>/g)) {
    const name = attributeOf(attributes, "name");
    const isTick = /type="(checkbox|radio)"/.test(attributes);
    if (name && (!isTick || /\schecked/.test(attributes))) fields[name] = attributeOf(attributes, "value") ?? "";
  }
  for (const [, attributes = "", text = ""] of form.matchAll(/<textarea([^>]*)>(.*?)<\/textarea>/gs)) {
    const name = attributeOf(attributes, "name");
    if (name) fields[name] = decoded(text);
  }
  for (const [, attributes = "", options = ""] of form.matchAll(/<select([^>]*)>(.*?)<\/select>/gs)) {
    const name = attributeOf(attributes, "name");
    const all = [...options.matchAll(/<option([^>]*)>/g)].map(([, option = ""]) => option);
    const chosen = all.find((option) => /\sselected/.test(option)) ?? all[0] ?? "";
    if (name) fields[name] = attributeOf(chosen, "value") ?? "";
  }
  return fields;
}

function attributeOf(attributes: string, name: string): string | undefined {
  const [, value] = new RegExp(`\\s${name}="([^"]*)"`).exec(attributes) ?? [];
  return value === undefined ? undefined : decoded(value);
}

function decoded(text: string): string {
  return text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");
}
