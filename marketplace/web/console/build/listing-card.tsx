/** @jsxRuntime automatic @jsxImportSource preact */
import { AreaField, Field, SelectField, TextField } from "../../../../shared/page/field.tsx";
import { figures } from "../../../../shared/page/figures.ts";
import { categories, categoryNames } from "../../../agents/category.ts";
import { usdcOf } from "../../money.tsx";
import { idAt } from "./anchors.ts";
import type { Editor } from "./editor-state.ts";
import { priceOf } from "./shown-draft.ts";

/** The fields that lists show: name, price, description, category and tags. */
export function ListingCard({ editor: { draft } }: { editor: Editor }) {
  const { name, description, category, tags, price_credits } = draft.definition;
  return (
    <section class="card" aria-labelledby="listing-title">
      <div class="card-head">
        <h2 id="listing-title">Listing</h2>
      </div>
      <div class="card-body stack">
        <div class="cols cols-2">
          <TextField id={idAt("name")} name="name" label="Name" value={name} maxLength={100} autocomplete="off" />
          <Field
            id={idAt("price_credits")}
            name="price_credits"
            label="Price of one run"
            control={(tied) => (
              <span class="affix">
                <input
                  class="input num"
                  inputMode="numeric"
                  autocomplete="off"
                  value={String(price_credits)}
                  {...tied}
                />
                <span id="build-price">{priceNote(priceOf(draft.definition))}</span>
              </span>
            )}
          />
        </div>
        <AreaField
          id={idAt("description")}
          name="description"
          label="Description"
          rows={2}
          maxLength={500}
          value={description}
          note={<span id="build-length">{`${figures(description.length)} of 500`}</span>}
        />
        <div class="cols cols-2">
          <SelectField
            id={idAt("category")}
            name="category"
            label="Category"
            choices={categories.map((value) => ({ value, label: categoryNames[value] }))}
            value={category}
          />
          <TextField
            id={idAt("tags")}
            name="tags"
            label="Tags"
            value={tags.join(", ")}
            help="Up to five words, with spaces or commas between."
            autocomplete="off"
          />
        </div>
      </div>
    </section>
  );
}

function priceNote(price: number | undefined): string {
  if (price === undefined) return "credits";
  return price === 0 ? "credits = free" : `credits = ${usdcOf(price)}`;
}
