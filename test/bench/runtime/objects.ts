/** Generated objects of about 3 KB, a good half of it in `managedFields`, like installations. */
import type { Kind, Obj } from '../../../src/runtime/types.ts';

export interface BenchObject extends Obj {
  metadata: Obj['metadata'] & { generation: number };
  spec: object;
  status: { observedGeneration?: number; phase?: string; note?: string };
}

export const benchKind: Kind<BenchObject> = {
  group: 'bench.example',
  version: 'v1',
  kind: 'Bench',
  plural: 'benches',
  namespaced: true,
};

const text = (length: number, seed: number): string => `${String(seed)}-`.padEnd(length, 'lorem ipsum ');

export function objectOf(i: number, isUnsettled = false): BenchObject {
  const fields = Object.fromEntries(
    Array.from({ length: 24 }, (_, k) => [`f:field-number-${String(k)}`, { 'f:name': {}, 'f:value': {} }]),
  );
  const time = '2026-01-01T00:00:00Z';
  return {
    apiVersion: 'bench.example/v1',
    kind: 'Bench',
    metadata: {
      name: `object-${String(i)}`,
      namespace: `space-${String(i % 50)}`,
      uid: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
      resourceVersion: String(100 + i),
      generation: isUnsettled ? 2 : 1,
      creationTimestamp: time,
      labels: { app: `app-${String(i % 100)}`, tier: 'back' },
      annotations: { note: text(80, i) },
      managedFields: [
        { manager: 'bench', operation: 'Update', apiVersion: 'bench.example/v1', time, fieldsV1: fields },
      ],
    },
    spec: {
      imports: Array.from({ length: 6 }, (_, k) => ({
        name: `import-${String(k)}`,
        dataRef: `data-${String(i + k)}`,
      })),
      exports: Array.from({ length: 4 }, (_, k) => ({
        name: `export-${String(k)}`,
        dataRef: `out-${String(i + k)}`,
      })),
      text: text(420, i),
    },
    status: { observedGeneration: 1, phase: 'Succeeded', note: text(200, i) },
  };
}
