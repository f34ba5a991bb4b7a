/** Reads CustomResourceDefinitions and creates them. */
import { readFileSync } from 'node:fs';
import { parseYamlAll } from '../../lib/yaml.ts';
import { CustomResourceDefinition } from '../../runtime/core-kinds.ts';
import { DefinitionError } from '../../runtime/errors.ts';
import type { Client, Kind, Obj } from '../../runtime/types.ts';

/** @throws DefinitionError if a file has anything else in it; errors of reading */
export function readCrds(crds: readonly (Obj | string | URL)[]): readonly Obj[] {
  return crds.flatMap((crd) => (isFile(crd) ? crdsIn(crd) : [crd]));
}

const isFile = (crd: Obj | string | URL): crd is string | URL =>
  typeof crd === 'string' || crd instanceof URL;

function crdsIn(file: string | URL): readonly Obj[] {
  const documents = parseYamlAll(readFileSync(file, 'utf8')).filter((document) => document !== null);
  return documents.map((document) => {
    const { kind } = document as Partial<Obj>;
    if (kind === 'CustomResourceDefinition') return document as Obj;
    throw new DefinitionError({
      message: `${String(file)} contains a ${kind ?? 'document without a kind'}; \`crds\` takes CustomResourceDefinitions only`,
    });
  });
}

/** The server serves the kinds at once. */
export async function createCrds(client: Client, crds: readonly Obj[]): Promise<void> {
  const kind = CustomResourceDefinition as Kind<never> as Kind;
  for (const object of crds) await client.send({ verb: 'create', kind, object });
}
