/** Small charts for scenarios, packed as Helm packs them, and the real helm if it was built. */
import { gzipSync } from 'node:zlib';
import { findHelm } from '../../hack/helm/binary.ts';
import { inThisThread } from '../../src/blueprint/work.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { seededRng } from '../../src/lib/rng.ts';
import type { TemplateLimits } from '../../src/templating/budget.ts';
import type { ChartsOf } from '../../src/templating/helm/work.ts';
import { writeTar } from '../../src/lib/tar.ts';

/** Charts are read and rendered in the thread of the test. */
export const chartsHere = (limits: Partial<TemplateLimits> = {}): ChartsOf => {
  const runner = inThisThread({ clock: systemClock, rng: seededRng(1), limits });
  return () => runner;
};

type Files = Readonly<Record<string, string>>;

export const packChart = (files: Files, name = 'small', version = '0.1.0'): Buffer => {
  const all = { 'Chart.yaml': `apiVersion: v2\nname: ${name}\nversion: ${version}\n`, ...files };
  const entries = Object.entries(all).map(([path, text]) => [`${name}/${path}`, Buffer.from(text)] as const);
  return gzipSync(writeTar(entries));
};

export const raw = (chart: Buffer): object => ({ chart: { archive: { raw: chart.toString('base64') } } });

export const configMapOf = (name: string, data = ''): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n${data}`;

const C1_FILES = {
  'values.yaml': 'msg: hi\n',
  'templates/cm.yaml': configMapOf('{{ .Release.Name }}-cm', 'data:\n  msg: {{ .Values.msg | quote }}\n'),
};

/** One ConfigMap with a message. */
export const c1 = (more: Files = {}, version = '0.1.0'): Buffer =>
  packChart({ ...C1_FILES, ...more }, 'small', version);

const deploymentIn = (name: string): string =>
  `- {apiVersion: apps/v1, kind: Deployment, metadata: {name: ${name}}, spec: {replicas: 1, selector: {matchLabels: {a: ${name}}}, template: {metadata: {labels: {a: ${name}}}, spec: {containers: [{name: m, image: none}]}}}}\n`;

/** A list of three Deployments. */
export const c2 = (): Buffer =>
  packChart({
    'templates/list.yaml': `apiVersion: v1\nkind: List\nitems:\n${['one', 'two', 'three'].map(deploymentIn).join('')}`,
  });

/** A subchart with a condition. */
export const c3 = (): Buffer =>
  c1({
    'Chart.yaml':
      'apiVersion: v2\nname: small\nversion: 0.1.0\ndependencies:\n- {name: sub, version: 1.0.0, condition: sub.enabled}\n',
    'charts/sub/Chart.yaml': 'apiVersion: v2\nname: sub\nversion: 1.0.0\n',
    'charts/sub/templates/cm.yaml': configMapOf('sub-cm'),
  });

/** A schema that requires an integer. */
export const c4 = (): Buffer =>
  c1({
    'values.schema.json': JSON.stringify({
      type: 'object',
      required: ['port'],
      properties: { port: { type: 'integer' } },
    }),
  });

/** The real helm; undefined, with a printed reason, if it was not built. */
export const realHelm = (): string | undefined => findHelm();

export const NO_HELM = 'there is no helm: set ESPALIER_TEST_HELM, or run make test-helm once';
