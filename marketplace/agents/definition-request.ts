import { z } from "zod";
import { type AnyConnector, connectors } from "../connectors/registry.ts";
import { definitionSchema, secretName } from "./definition.ts";

/**
 * A definition as it is sent, for documents: one shape a connector, since its settings are the connector's own. A secret that is not
 * named stays as the newest version has it. Whether a definition holds is check.ts's to say.
 */
export const definitionRequest = z
  .discriminatedUnion("connector", shapes([...connectors.values()].map(definitionOn)))
  .meta({ id: "AgentDefinition", discriminator: { propertyName: "connector" } });

type Definition = ReturnType<typeof definitionOn>;

function definitionOn(connector: AnyConnector) {
  const name = nameOf(connector);
  return definitionSchema
    .extend({
      connector: z.literal(connector.id),
      settings: settingsOf(connector)
        .describe(`Of agents on ${connector.id}; private.`)
        .meta({ id: `${name}Settings` }),
      secrets: z
        .record(secretName, z.string().max(4_000).nullable())
        .default({})
        .describe("Named in settings as {{secret.name}}. What is not named here stays as it is; null takes it away."),
    })
    .meta({ id: `${name}Definition`, description: connector.guide.does });
}

/** `http-api` → `HttpApi`. */
function nameOf({ id }: AnyConnector): string {
  return id.replaceAll(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** A connector's settings with what its guide says of each. */
function settingsOf({ settings, guide }: AnyConnector): z.ZodObject {
  return explained(settings as z.ZodObject, guide.settings);
}

function explained(shape: z.ZodObject, notes: Readonly<Record<string, string>>, prefix = ""): z.ZodObject {
  const fields = Object.entries(shape.shape as Record<string, z.ZodType>).map(([name, field]) => {
    const path = `${prefix}${name}`;
    const inner = field instanceof z.ZodObject ? explained(field, notes, `${path}.`) : field;
    const note = notes[path];
    return [name, note === undefined ? inner : inner.describe(`${note.charAt(0).toUpperCase()}${note.slice(1)}.`)];
  });
  return z.strictObject(Object.fromEntries(fields));
}

function shapes(all: Definition[]): [Definition, ...Definition[]] {
  return all as [Definition, ...Definition[]];
}
