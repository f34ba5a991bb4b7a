import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { shorten } from '../../../../src/lib/masking.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import { seededRng } from '../../../../src/lib/rng.ts';
import { writeTar } from '../../../../src/lib/tar.ts';
import { chartOfArchive, chartOfFolder } from '../../../../src/templating/helm/load.ts';
import type { LookupKey } from '../../../../src/templating/helm/functions.ts';
import { glob, shellPattern } from '../../../../src/templating/helm/patterns.ts';
import { renderChart } from '../../../../src/templating/helm/render.ts';

type Files = Readonly<Record<string, string>>;
const META = 'apiVersion: v2\nname: c\nversion: 1.0.0\n';
const bytes = (files: Files) =>
  Object.entries(files).map(([name, text]) => [name, Buffer.from(text)] as const);
const tar = (files: Files): Uint8Array => writeTar(bytes(files));
const world = { clock: systemClock, rng: seededRng(1) };
const release = { name: 'r', namespace: 'n', revision: 1, isUpgrade: false };

describe('a chart', () => {
  it('is read from an archive, uncompressed or gzipped, and from a folder', () => {
    const files = { 'Chart.yaml': META, 'templates/a.yaml': 'a: 1' };
    const packed = tar({ 'c/Chart.yaml': META, 'c/templates/a.yaml': 'a: 1' });
    for (const chart of [
      chartOfArchive(packed),
      chartOfArchive(gzipSync(packed)),
      chartOfFolder(new Map(bytes(files))),
    ]) {
      expect(chart.metadata.name).to.equal('c');
      expect(chart.templates.map(({ name }) => name)).to.deep.equal(['templates/a.yaml']);
    }
  });

  const refused: readonly (readonly [string, Uint8Array, string])[] = [
    ['that is not an archive', Buffer.from('hello'.repeat(200)), 'no tar archive'],
    ['that is damaged', gzipSync(tar({ 'c/Chart.yaml': META })).subarray(0, 40), 'cannot be unpacked'],
    ['without files', tar({}), 'no files in chart archive'],
    ['with a path out of its folder', tar({ 'c/../../x': '' }), 'references parent directory'],
    ['with an absolute path', tar({ 'c//etc/passwd': '' }), 'absolute paths'],
    ['without a folder', tar({ 'Chart.yaml': META }), 'not in base directory'],
    ['without Chart.yaml', tar({ 'c/values.yaml': '' }), 'Chart.yaml file is missing'],
    [
      'with a name that is a path',
      tar({ 'c/Chart.yaml': META.replace('name: c', 'name: a/b') }),
      '"a/b" is invalid',
    ],
    ['with an invalid version', tar({ 'c/Chart.yaml': META.replace('1.0.0', 'x') }), '"x" is invalid'],
    [
      'with values that are not a map',
      tar({ 'c/Chart.yaml': META, 'c/values.yaml': '- a' }),
      'c/values.yaml: it holds no map',
    ],
    ['with partially invalid YAML', tar({ 'c/Chart.yaml': 'a: [' }), 'cannot load Chart.yaml'],
    [
      'with an invalid subchart',
      tar({ 'c/Chart.yaml': META, 'c/charts/s/Chart.yaml': 'name: s' }),
      'error unpacking subchart s',
    ],
  ];
  for (const [what, archive, message] of refused) {
    it(`${what} is rejected with a message`, () => {
      expect(() => chartOfArchive(archive)).to.throw(message);
    });
  }

  it('without annotations has a nil map of them, and with an empty one an empty map', async () => {
    const text =
      '# {{ toJson .Chart.Annotations }} {{ .Chart.Annotations }} {{ .Chart.Annotations.x | quote }}';
    const printed = async (more: string): Promise<string | undefined> => {
      const files = { 'Chart.yaml': META + more, 'templates/a.yaml': `${text}\na: 1\n` };
      const chart = chartOfFolder(new Map(bytes(files)));
      const { manifests } = await renderChart(chart, { release, values: {} }, world);
      return manifests[0]?.content.split('\n')[0];
    };
    expect(await printed('')).to.equal('# null map[] ""');
    expect(await printed('annotations: {}\n')).to.equal('# {} map[] ""');
  });

  it('in a folder omits what .helmignore names', () => {
    const files = {
      'Chart.yaml': META,
      '.helmignore': '# no\n*.bak\n/top.txt\ndocs/\nsub/*.md\n',
      'a.bak': '',
      'top.txt': '',
      'sub/top.txt': '',
      'docs/x/y.txt': '',
      'sub/a.md': '',
      'sub/a.txt': '',
      'templates/.hidden': '',
    };
    const chart = chartOfFolder(new Map(bytes(files)));
    expect(chart.files.map(({ name }) => name)).to.deep.equal(['.helmignore', 'sub/a.txt', 'sub/top.txt']);
    expect(chart.templates).to.deep.equal([]);
    expect(() => chartOfFolder(new Map(bytes({ 'Chart.yaml': META, '.helmignore': 'a/**' })))).to.throw(
      'double-star',
    );
  });

  it('supports globs and shell patterns', () => {
    expect(['a/b', 'a/b/c', 'a/x.y'].filter(glob('a/*'))).to.deep.equal(['a/b', 'a/x.y']);
    expect(['a/b/c.y', 'c.y', 'a.z'].filter(glob('{**/,}*.y'))).to.deep.equal(['a/b/c.y', 'c.y']);
    expect(['a', 'b'].filter(glob('[ab'))).to.deep.equal(['a', 'b']);
    expect(['ab', 'xb', 'b'].filter(shellPattern('[^x]b') ?? (() => false))).to.deep.equal(['ab']);
    expect(shellPattern('[')).to.equal(undefined);
  });
});

describe('values of a chart with a subchart', () => {
  /** `.Values.global` in the subchart, for values of the chart and the subchart. */
  const globalBelow = async (above: unknown, own: string): Promise<unknown> => {
    const chart = chartOfFolder(
      new Map(
        bytes({
          'Chart.yaml': META,
          'charts/s/Chart.yaml': META.replace('name: c', 'name: s'),
          'charts/s/values.yaml': own,
          'charts/s/templates/a.yaml': 'g: {{ toJson .Values.global }}',
        }),
      ),
    );
    const { manifests } = await renderChart(chart, { release, values: { ...(above as object) } }, world);
    return (manifests[0]?.document as { g?: unknown }).g;
  };
  const rows: readonly (readonly [title: string, above: object, below: unknown])[] = [
    ['a map over a missing value', { global: { m: { a: 1 } } }, { m: { a: 1 } }],
    ['a value over a missing value', { global: { v: 1 } }, { v: 1 }],
    ['a value over a value', { global: { v: 1 }, s: { global: { v: 2 } } }, { v: 1 }],
    [
      'a value over a map, which stays',
      { global: { m: 1 }, s: { global: { m: { b: 2 } } } },
      { m: { b: 2 } },
    ],
    ['a map over a value, which stays', { global: { m: { a: 1 } }, s: { global: { m: 2 } } }, { m: 2 }],
    [
      'a map over a map, key by key',
      { global: { m: { a: 1, b: 1 } }, s: { global: { m: { b: 2, c: 2 } } } },
      { m: { a: 1, b: 1, c: 2 } },
    ],
  ];
  for (const [title, above, below] of rows) {
    it(`passes global values down: ${title}`, async () => {
      expect(await globalBelow(above, '')).to.deep.equal(below);
    });
  }
});

describe('subcharts of a subchart', () => {
  const meta = (name: string, dependencies = ''): string =>
    `apiVersion: v2\nname: ${name}\nversion: 1.0.0\n${dependencies}`;
  const on = (name: string, more = `condition: ${name}.enabled`): string =>
    `dependencies: [{name: ${name}, version: 1.0.0, ${more}}]\n`;
  const nested = (files: Files = {}) =>
    chartOfFolder(
      new Map(
        bytes({
          'Chart.yaml': meta('c', on('s')),
          'charts/s/Chart.yaml': meta('s', on('t')),
          'charts/s/templates/a.yaml': 'name: s',
          'charts/s/charts/t/Chart.yaml': meta('t'),
          'charts/s/charts/t/templates/a.yaml': 'name: t',
          ...files,
        }),
      ),
    );
  const rendered = async (values: object, files?: Files): Promise<readonly unknown[]> => {
    const { manifests } = await renderChart(nested(files), { release, values: { ...values } }, world);
    return manifests.map(({ document }) => (document as { name: string }).name).sort();
  };

  const conditions: readonly (readonly [title: string, values: object, names: readonly string[]])[] = [
    ['without values, all', {}, ['s', 't']],
    ['the inner one, by the values of its parent', { s: { t: { enabled: false } } }, ['s']],
    ['not the inner one, by values at the top', { t: { enabled: false } }, ['s', 't']],
    ['the outer one, with what is below it', { s: { enabled: false, t: { enabled: true } } }, []],
    ['none, if both are on', { s: { enabled: true, t: { enabled: true } } }, ['s', 't']],
    ['none, if the condition is not a boolean', { s: { enabled: 'false' } }, ['s', 't']],
  ];
  for (const [title, values, names] of conditions)
    it(`are left out by conditions: ${title}`, async () => {
      expect(await rendered(values)).to.deep.equal(names);
    });

  const tagged: readonly (readonly [title: string, values: object, names: readonly string[]])[] = [
    ['by a tag', { tags: { front: false } }, ['s']],
    ['not if another tag is on', { tags: { front: false, back: true } }, ['s', 't']],
    ['by the first condition before tags', { tags: { front: true }, s: { a: false, b: true } }, ['s']],
    ['by the second condition, if the first has no value', { s: { b: false } }, ['s']],
  ];
  for (const [title, values, names] of tagged)
    it(`are left out by tags and several conditions: ${title}`, async () => {
      const charts = { 'charts/s/Chart.yaml': meta('s', on('t', 'tags: [front, back], condition: "a,b"')) };
      expect(await rendered(values, charts)).to.deep.equal(names);
    });

  const schema = JSON.stringify({ required: ['size'], properties: { size: { type: 'integer' } } });
  const files = { 'charts/s/charts/t/values.schema.json': schema };
  const refusal = (values: object): Promise<unknown> =>
    rendered(values, files).catch((error: unknown) => (error as Error).message);
  it('have their values validated with their own schemas', async () => {
    expect(await refusal({ s: { t: { size: 1 } } })).to.deep.equal(['s', 't']);
    expect(await refusal({ s: { t: { size: 'x' } } })).to.match(/:\nt:\n- at '\/size': must be integer$/);
    expect(await refusal({ size: 1, s: { size: 1 } })).to.contain(
      "- at '': must have required property 'size'",
    );
  });

  it('have no values to validate if they are left out', async () => {
    expect(await refusal({ s: { t: { enabled: false } } })).to.deep.equal(['s']);
  });

  it('are reported after the charts above them', async () => {
    const above = { ...files, 'values.schema.json': schema, 'charts/s/values.schema.json': schema };
    const message = await rendered({}, above).catch((error: unknown) => (error as Error).message);
    expect(String(message).match(/^\w+:$/gm)).to.deep.equal(['c:', 's:', 't:']);
  });
});

describe('lookups of a template', () => {
  const chart = (template: string) =>
    chartOfFolder(new Map(bytes({ 'Chart.yaml': META, 'templates/a.yaml': template })));

  it('are answered although templates are synchronous, each requested once', async () => {
    const asked: LookupKey[] = [];
    const lookup = (wanted: LookupKey): Promise<unknown> => {
      asked.push(wanted);
      return Promise.resolve(
        wanted.name === 'first' ? { data: { next: 'second' } } : { data: { v: 'found' } },
      );
    };
    const text =
      '{{- $a := lookup "v1" "ConfigMap" "n" "first" }}\na: {{ (lookup "v1" "ConfigMap" "n" $a.data.next).data.v }}\nb: {{ $a.data.next }}';
    const { manifests } = await renderChart(chart(text), { release, values: {}, lookup }, world);
    expect(manifests[0]?.document).to.deep.equal({ a: 'found', b: 'second' });
    expect(asked.map(({ name }) => name)).to.deep.equal(['first', 'second']);
  });

  it('that never end are stopped', async () => {
    const lookup = (): Promise<unknown> => Promise.resolve({});
    const text = 'a: {{ lookup "v1" "ConfigMap" "n" (randAlphaNum 20) }}';
    const rendering = renderChart(chart(text), { release, values: {}, lookup }, world);
    expect(await rendering.catch((error: unknown) => (error as Error).message)).to.contain(
      'look up something else each time',
    );
  });

  it('share one time limit', async () => {
    let now = 0;
    const clock = { ...world.clock, now: () => ++now };
    const lookup = (): Promise<unknown> => Promise.resolve({});
    const text =
      '{{ range until 9999 }}{{ $x := . }}{{ end }}a: {{ lookup "v1" "ConfigMap" "n" (randAlphaNum 20) }}';
    const limited = { ...world, clock, limits: { timeoutMs: 60 } };
    const rendering = renderChart(chart(text), { release, values: {}, lookup }, limited);
    expect(await rendering.catch((error: unknown) => (error as Error).message)).to.contain(
      'takes longer than 60 ms; templating.timeout',
    );
  });

  it('of a missing object is empty', async () => {
    const lookup = (): Promise<unknown> => Promise.resolve(undefined);
    const text = 'a: {{ lookup "v1" "ConfigMap" "n" "x" | empty }}';
    const { manifests } = await renderChart(chart(text), { release, values: {}, lookup }, world);
    expect(manifests[0]?.document).to.deep.equal({ a: true });
  });
});

describe('a failing chart', () => {
  const fails = async (files: Files, values = {}): Promise<string> => {
    const chart = chartOfFolder(new Map(bytes({ 'Chart.yaml': META, ...files })));
    try {
      await renderChart(chart, { release, values }, world);
      return 'nothing went wrong';
    } catch (error) {
      return (error as Error).message;
    }
  };

  it('does not repeat the input of tpl', async () => {
    const message = await fails(
      { 'templates/a.yaml': 'a: {{ tpl .Values.t . }}' },
      { t: 'hunter22 {{ if }}' },
    );
    expect(message).to.contain('c/templates/a.yaml:1:').and.to.contain('missing value for if');
    expect(message).not.to.contain('hunter22');
  });

  it('that includes itself forever is stopped', async () => {
    const text = '{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}';
    expect(await fails({ 'templates/a.yaml': text })).to.match(/nested reference|depth|recursion|exceeded/);
  });

  it('that includes itself forever is stopped with a message that ends with the reason', async () => {
    const include = '{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}';
    const tpl = '{{ $t := "{{ tpl .t . }}" }}{{ tpl $t (dict "t" $t "Template" .Template) }}';
    for (const text of [include, tpl]) {
      const message = shorten(await fails({ 'templates/a.yaml': text }));
      expect(message).to.match(
        /(template depth \(500\)|unable to execute template|depth a template may use)$/,
      );
    }
  });

  it('names chart and rule of a schema, not the value', async () => {
    const schema = JSON.stringify({
      properties: { a: { enum: ['x'] }, b: { type: 'object', additionalProperties: false } },
    });
    const message = await fails({ 'values.schema.json': schema }, { a: 'hunter22', b: { odd: 1 } });
    expect(message).to.contain("c:\n- at '/a'").and.to.contain('"odd"');
    expect(message).not.to.contain('hunter22');
  });

  it('does not depend on the schemas of other charts', async () => {
    const $id = 'https://example.org/one';
    const one = JSON.stringify({ properties: { x: { $id, type: 'string' } } });
    const other = JSON.stringify({ properties: { a: { $ref: $id }, x: { type: 'integer' } } });
    expect(await fails({ 'values.schema.json': one }, { x: 'y' })).to.equal('nothing went wrong');
    expect(await fails({ 'values.schema.json': other }, { a: 'y' })).to.contain('the schema cannot be used');
  });

  it('with an invalid schema is reported', async () => {
    expect(await fails({ 'values.schema.json': '{' })).to.contain('the schema cannot be used');
  });
});
