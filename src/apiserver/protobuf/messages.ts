/** The messages of the built-in kinds and the Go types behind them, read once from the file that hack/update-protobuf generates. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { splitApiVersion } from '../kinds/catalogue.ts';

/** Flags: r repeated, p pointer in Go, i inlined into its parent, w written by Go's JSON encoder although it is empty. */
export type MessageField = readonly [number: number, name: string, type: string, flags: string];
type Message = ReadonlyMap<number, MessageField>;

const FILE = new URL('../data/protobuf.json.gz', import.meta.url);

let loaded: ReadonlyMap<string, Message> | undefined;

function messages(): ReadonlyMap<string, Message> {
  if (!loaded) {
    const data = JSON.parse(gunzipSync(readFileSync(FILE)).toString()) as {
      messages: Record<string, MessageField[]>;
    };
    loaded = new Map(
      Object.entries(data.messages).map(([name, fields]) => [name, new Map(fields.map((f) => [f[0], f]))]),
    );
  }
  return loaded;
}

/** The fields of a message by number; undefined if there is no such message. */
export const fieldsOf = (name: string): Message | undefined => messages().get(name);

/** The name of a kind's message; undefined if there is none. */
export function messageOf(apiVersion: string, kind: string): string | undefined {
  const { group, version } = splitApiVersion(apiVersion);
  const folder = group === '' ? 'core' : (group.split('.')[0] ?? '');
  return [
    `k8s.io.api.${folder}.${version}.${kind}`,
    `k8s.io.apiextensions_apiserver.pkg.apis.${folder}.${version}.${kind}`,
    `k8s.io.apimachinery.pkg.apis.meta.v1.${kind}`,
  ].find((name) => messages().has(name));
}
