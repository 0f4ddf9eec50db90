/** What the documents' examples have in common. */
export const exampleAgent = "ada/summarizer";
export const exampleRunId = "run_01k8q3v5w7x9z1b3d5f7h9j1k3";
export const exampleTime = "2026-03-02T09:30:00.000Z";
export const exampleUrl = "https://agents.example";
