import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import {
  workerRunners,
  type WorkerOptions,
  type WorkerRunners,
} from '../../../src/blueprint/workers/runner.ts';
import type { TemplateRunner } from '../../../src/blueprint/work.ts';
import { MappingFailed } from '../../../src/blueprint/mapping.ts';
import { ComponentView, viewOf, withContents } from '../../../src/components/view.ts';
import type { FoundComponent } from '../../../src/components/repository.ts';
import { readDescriptor } from '../../../src/components/descriptor.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import {
  ResultHasNoValue,
  TemplateBroken,
  TemplateNotFound,
  TemplateStopped,
} from '../../../src/templating/errors.ts';
import { TemplateExecutionError } from '../../../src/templating/gotemplate/errors.ts';
import { outcome } from '../../support/outcome.ts';
import { blueprint, runner as here } from '../dataflow/given.ts';
import { patience } from '../../support/patience.ts';

import { NamesNotMatched } from '../../../src/blueprint/match-names.ts';
import { TextsTooLarge, TextUnreadable } from '../../../src/lib/yaml-texts.ts';
import { aliased } from '../../support/aliases.ts';
const go = (template: string) => ({ name: 'main', type: 'GoTemplate', template });
const empty = blueprint();

describe('work in another process', () => {
  const open: WorkerRunners[] = [];
  const start = (options: Partial<WorkerOptions> = {}): TemplateRunner => {
    const runners = workerRunners({ clock: systemClock, ...options });
    open.push(runners);
    return runners.of('shop');
  };
  let runner: TemplateRunner;
  before(() => {
    runner = start();
  });
  after(() => Promise.all(open.map((each) => each.close())));

  const render = (template: string, values: Record<string, unknown> = {}, loaded = empty) =>
    runner.render({ execution: go(template), values, blueprint: loaded }).then(({ output }) => output);

  it('has the same result as here', async () => {
    const files = blueprint({}, { 'part.tpl': 'v: {{ .x }}', link: { $type: 'symlink', value: 'part.tpl' } });
    const template = 'a: {{ .imports.name | upper }}\nb: {{ include "/link" (dict "x" 1) | quote }}';
    const job = { execution: go(template), values: { imports: { name: 'web' } }, blueprint: files };
    expect(await runner.render(job)).to.deep.equal(await here.render(job));
    expect((await runner.render(job)).output).to.deep.equal({ a: 'WEB', b: 'v: 1' });
  });

  it('is stopped when its result has many values, however short they are', async () => {
    const small = start({ limits: { maxOutputBytes: 2 ** 20 } });
    const ofMany = (count: number) =>
      small.render({
        execution: go(`a: [{{ repeat ${String(count)} "[]," }}]`),
        values: {},
        blueprint: empty,
      });
    expect((await ofMany(16_000)).output)
      .to.have.property('a')
      .with.length(16_000);
    expect(await outcome(ofMany(17_000))).to.throw(
      TemplateStopped,
      'its result is larger than 1048576 bytes, where a value counts at least 32; templating.maxOutputBytes of the configuration',
    );
  });

  it('reads long texts, and short ones whose aliases stand for much, and counts them together', async () => {
    const reader = workerRunners({ clock: systemClock });
    open.push(reader);
    const texts = (...all: readonly string[]) => ({
      texts: all.map((text, i) => [`k${String(i)}`, text] as const),
    });
    const { readTexts } = reader.of('shop');
    const [long] = await readTexts(texts(`text: ${'x'.repeat(100_000)}`));
    expect(long?.bytes).to.equal(100_011);
    const [repeated] = await readTexts(texts(aliased(25)));
    expect(repeated?.value).to.have.property('b').with.length(25);
    expect(await outcome(readTexts(texts(...Array<string>(60).fill(aliased(25)))))).to.throw(
      TextsTooLarge,
      'the values, with their aliases, have more than 16 MiB together',
    );
    expect(await outcome(readTexts(texts('x'.repeat(100_000), '{ broken'))))
      .to.throw(TextUnreadable)
      .with.property('key', 'k1');
  });

  it('matches names, and is stopped when an expression takes too long to compile', async () => {
    const reader = workerRunners({ clock: systemClock, limits: { timeoutMs: 200 } });
    open.push(reader);
    const { matchNames } = reader.of('shop');
    const names = ['prod-1', 'test-1'];
    expect(await matchNames({ expression: 'prod-\\d{1,3}', names })).to.deep.equal([true, false]);
    expect(await matchNames({ expression: 'a{2', names })).to.deep.equal([false, false]);
    expect(await matchNames({ expression: '(a{2}', names })).to.equal(undefined);
    const hostile = '(?:a{500})'.repeat(2_400);
    expect(await outcome(matchNames({ expression: hostile, names }))).to.throw(
      NamesNotMatched,
      'the regular expression to filter names was stopped because it',
    );
  });

  it('keeps integers that JSON would round', async () => {
    expect(await render('a: "{{ .n }}"', { n: 2n ** 60n })).to.deep.equal({ a: String(2n ** 60n) });
  });

  it('gets time and random numbers of its own', async () => {
    const { a, b } = (await render('a: "{{ now | unixEpoch }}"\nb: {{ randAlpha 20 }}')) as {
      a: string;
      b: string;
    };
    expect(Math.abs(Number(a) - systemClock.wall() / 1000)).to.be.below(patience(60));
    expect(b).to.match(/^[A-Za-z]{20}$/);
  });

  it('has no environment', async () => {
    expect(await outcome(render('{{ env "PATH" }}'))).to.throw(TemplateBroken, 'function "env" not defined');
  });

  const failures: readonly [string, string, new (...args: never[]) => Error, string][] = [
    ['a template with a syntax error', '{{ .a.b.c', TemplateBroken, 'template: execution:1'],
    ['one that fails', 'x\n{{ fail "so" }}', TemplateBroken, 'execution:2:3: executing "execution"'],
  ];
  for (const [what, template, Class, message] of failures) {
    it(`has the same error for ${what}`, async () => {
      const job = { execution: go(template), values: { imports: {} }, blueprint: empty };
      const [there, at] = [await outcome(runner.render(job)), await outcome(here.render(job))];
      expect(there).to.throw(Class, message);
      let text = '';
      try {
        at();
      } catch (error) {
        text = (error as Error).message;
      }
      expect(there).to.throw(text);
    });
  }

  it('keeps the place of an error', async () => {
    try {
      await render('x\n  {{ fail "so" }}');
    } catch (error) {
      const { cause } = error as Error;
      expect(cause).to.be.instanceOf(TemplateExecutionError);
      expect(cause).to.include({
        line: 2,
        column: 5,
        sourceLine: '  {{ fail "so" }}',
        reason: 'error calling fail: so',
      });
      return;
    }
    throw new Error('it succeeded');
  });

  it('keeps the place of an expression of Spiff', async () => {
    const execution = { type: 'Spiff', template: { a: 1, b: ['(( imports.nope ))'] } };
    try {
      await runner.render({ execution, values: { imports: {} }, blueprint: empty });
    } catch (error) {
      const { message, cause } = error as Error;
      expect(message).to.contain('\ntemplate source:\n1:    a: 1\n2:    b:\n3:    - (( imports.nope ))\n');
      expect(cause).to.be.instanceOf(TemplateExecutionError);
      expect(cause).to.include({ line: 3, column: 2, sourceLine: '- (( imports.nope ))' });
      return;
    }
    throw new Error('it succeeded');
  });

  it('distinguishes missing values and missing templates from other errors', async () => {
    const job = {
      execution: go('{{ .x }}'),
      values: {},
      blueprint: empty,
      refuseNoValueIn: 'deploy execution' as const,
    };
    expect(await outcome(runner.render(job))).to.throw(ResultHasNoValue);
    const none = { execution: { type: 'GoTemplate' }, values: {}, blueprint: empty };
    expect(await outcome(runner.render(none))).to.throw(TemplateNotFound, 'no template found');
  });

  it('includes mappings and schemas', async () => {
    const mapping = {
      key: 'x',
      what: 'import mapping template shop.x',
      reason: 'ConstructImports',
      bindings: { a: 'b' },
    };
    expect(await runner.map({ ...mapping, document: { x: '(( a "!" ))' } })).to.deep.equal({ x: 'b!' });
    expect(await outcome(runner.map({ ...mapping, document: '(( no ))' })))
      .to.throw(MappingFailed, 'unable to template import mapping template shop.x: unresolved nodes:')
      .with.property('reason', 'ConstructImports');
    const loaded = blueprint({ localTypes: { word: { type: 'string' } } });
    const schema = { $ref: 'local://word' };
    expect(await runner.check({ schema, value: 'x', blueprint: loaded })).to.deep.equal({ kind: 'valid' });
    expect(await runner.check({ schema, value: 5, blueprint: loaded })).to.deep.include({ kind: 'invalid' });
  });

  it('requests contents of components and gets them once', async () => {
    let fetched = 0;
    const component = readDescriptor({
      meta: { schemaVersion: 'v2' },
      component: {
        name: 'example.org/a',
        version: '1',
        repositoryContexts: [],
        sources: [],
        componentReferences: [],
        resources: [
          {
            name: 'data',
            version: '1',
            type: 'x',
            relation: 'local',
            access: { type: 'localBlob', localReference: 'r', mediaType: 'text/plain' },
          },
        ],
      },
    });
    const found: FoundComponent = {
      component,
      repository: {
        name: 'test',
        context: {},
        find: () => Promise.resolve(undefined),
        localBlob: () => Promise.resolve({ bytes: Buffer.from(`content ${String(++fetched)}`) }),
      },
    };
    const resolved = { all: [found], targets: new Map(), unverified: [] };
    const noRegistry = () => {
      throw new Error('no registry');
    };
    const view = new ComponentView({ kind: 'inline', document: {} }, resolved, { registry: noRegistry });
    const template =
      'a: {{ getResourceContent "cd://resources/data" }}\nb: {{ (getResource "name" "data").version | quote }}';
    const result = await withContents(view, () => render(template, {}, { ...empty, component: view }));
    expect(result).to.deep.equal({ a: 'content 1', b: '1' });
    expect(fetched).to.equal(1);
  });

  it('receives contents once, and forgets them after work that does not need them', async () => {
    const names = Array.from({ length: 70 }, (_, i) => `r${String(i)}`);
    let sent = 0;
    const contents = names.map((name) => {
      const bytes = Buffer.from(`content of ${name}`);
      return {
        kind: 'blob' as const,
        mediaType: 'text/plain',
        // Read when the error message is formatted.
        get bytes() {
          sent++;
          return bytes;
        },
      };
    });
    const component = readDescriptor({
      meta: { schemaVersion: 'v2' },
      component: {
        name: 'example.org/a',
        version: '1',
        repositoryContexts: [],
        sources: [],
        componentReferences: [],
        resources: names.map((name) => ({
          name,
          version: '1',
          type: 'x',
          relation: 'local',
          access: { type: 'none' },
        })),
      },
    });
    const data = { source: { kind: 'inline' as const, document: {} }, components: [component], targets: [] };
    const fetched = new Map(contents.map((one, i) => [`example.org/a:1 name=r${String(i)} 1`, one]));
    const loaded = { ...empty, component: viewOf(data, fetched) };
    const first = 'a: {{ getResourceContent "cd://resources/r0" }}';
    const last = 'a: {{ getResourceContent "cd://resources/r69" }}';

    expect(await render(first, {}, loaded)).to.deep.equal({ a: 'content of r0' });
    expect(await render(last, {}, loaded)).to.deep.equal({ a: 'content of r69' });
    expect(sent).to.equal(70);
    await render('a: 1');
    expect(await render(first, {}, loaded)).to.deep.equal({ a: 'content of r0' });
    expect(sent).to.equal(140);
  });

  it('continues with other work if one takes too long, and says how to allow more', async () => {
    const short = start({ limits: { timeoutMs: 50 } });
    const slow = short.render({
      execution: go('{{ range until 4000 }}{{ range until 4000 }}{{ end }}{{ end }}'),
      values: {},
      blueprint: empty,
    });
    const quick = short.render({ execution: go('a: 1'), values: {}, blueprint: empty });
    expect(await outcome(slow)).to.throw(/templating\.timeout/);
    expect((await quick).output).to.deep.equal({ a: 1 });
  });

  it('of one namespace does not delay that of another', async () => {
    const shared = workerRunners({ clock: systemClock, limits: { timeoutMs: 1_000 } });
    open.push(shared);
    const bcrypt = go('{{ range until 100000 }}{{ bcrypt "secret" }}{{ end }}');
    let stopped = 0;
    const hostile = Array.from({ length: 12 }, () =>
      outcome(
        shared
          .of('hostile')
          .render({ execution: bcrypt, values: {}, blueprint: empty })
          .finally(() => stopped++),
      ),
    );
    for (let n = 0; n < 5; n++) {
      const before = stopped;
      const canary = { execution: go(`a: ${String(n)}`), values: {}, blueprint: empty };
      expect((await shared.of('canary').render(canary)).output).to.deep.equal({ a: n });
      expect(stopped - before, 'templates of the other namespace that it waited for').to.be.below(5);
    }
    expect(stopped, 'of twelve that take a second each').to.be.below(12);
    await shared.close();
    await Promise.all(hostile);
  });

  it('ends however busy the processor is', async () => {
    const shared = workerRunners({ clock: systemClock, limits: { timeoutMs: 2_000 } });
    const hogs = Array.from(
      { length: 4 * availableParallelism() },
      () => new Worker('const end = Date.now() + 5_000; while (Date.now() < end);', { eval: true }),
    );
    try {
      const loop = go('{{ range until 200 }}{{ sha256sum (repeat 10000 "0123456789") | len }}{{ end }}');
      const job = { execution: go(`a: '${loop.template}'`), values: {}, blueprint: empty };
      expect((await shared.of('good').render(job)).output).to.have.property('a');
    } finally {
      await Promise.all([shared.close(), ...hogs.map((hog) => hog.terminate())]);
    }
  });

  it('fails alone if it needs too much memory', async () => {
    const small = start({ memoryMiB: 32, limits: { maxSteps: 1e9, maxOutputBytes: 2 ** 30 } });
    const eats =
      '{{ $d := dict }}{{ range untilStep 0 10000000 1 }}{{ $_ := set $d (print .) (list . .) }}{{ end }}';
    const greedy = small.render({ execution: go(eats), values: {}, blueprint: empty });
    const modest = small.render({ execution: go('a: 1'), values: {}, blueprint: empty });
    expect(await outcome(greedy)).to.throw(
      TemplateStopped,
      'execution "main" was stopped because it needs more than 32 MiB of memory; templating.memoryMiB of the configuration allows more',
    );
    expect((await modest).output).to.deep.equal({ a: 1 });
  });
});
