import type { Bench } from "./bench.ts";
import { pictureTypes } from "./picture.ts";

/** Takes the picture that is chosen in the form, pasted or dropped; `takeExample` takes the service's own. */
export function takePictures(form: HTMLFormElement, bench: Bench): { takeExample(): Promise<void> } {
  let choices = 0;
  const take = (blob: Blob, name: string) => {
    const trace = form.querySelector<HTMLInputElement>('input[name="make"][value="trace"]');
    if (trace) trace.checked = true;
    void bench.choose(blob, name);
  };
  const takeFile = (file: File | undefined) => {
    choices += 1;
    if (file) take(file, file.name || "pasted");
  };
  const sample = form.querySelector<HTMLElement>("[data-sample]");
  const takeExample = async () => {
    choices += 1;
    const choice = choices;
    const blob = await fetch(sample?.dataset.sample ?? "")
      .then(pictureIn)
      .catch(() => undefined);
    // Another picture was chosen while it came.
    if (choice !== choices) return;
    if (blob) return take(blob, "lighthouse");
    const problem = { title: "The example cannot be loaded.", text: "Try again, or choose a picture of your own." };
    bench.set({ problem });
  };
  sample?.addEventListener("click", () => void takeExample());
  form.addEventListener("input", ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.type !== "file") return;
    takeFile(target.files?.[0]);
    // The same file can be chosen again after another picture was dropped: a browser tells of changes only.
    target.value = "";
  });
  takePastes(takeFile);
  takeDrops(form.querySelector<HTMLElement>("[data-drop]"), takeFile);
  return { takeExample };
}

const pictureIn = (answer: Response) => (answer.ok ? answer.blob() : undefined);

type TakeFile = (file: File | undefined) => void;

function takePastes(takeFile: TakeFile): void {
  addEventListener("paste", ({ clipboardData, target }) => {
    const picture = pictureAmong(clipboardData?.files);
    const isTypedIn = target instanceof Element && target.closest("input, textarea") !== null;
    // Programs that copy a text often put a picture of it beside it.
    const isText = isTypedIn && clipboardData?.types.includes("text/plain");
    if (picture && !isText) takeFile(picture);
  });
}

function takeDrops(drop: HTMLElement | null, takeFile: TakeFile): void {
  const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes("Files") === true;
  addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    if (drop) drop.dataset.over = "";
  });
  addEventListener("dragleave", ({ relatedTarget }) => {
    if (!relatedTarget) delete drop?.dataset.over;
  });
  addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    delete drop?.dataset.over;
    const files = event.dataTransfer?.files;
    takeFile(pictureAmong(files) ?? files?.[0]);
  });
}

function pictureAmong(files: FileList | undefined): File | undefined {
  return [...(files ?? [])].find(({ type }) => pictureTypes.includes(type));
}
