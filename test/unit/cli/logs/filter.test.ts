import { expect } from 'chai';
import { LogFilter, type Wanted } from '../../../../src/cli/commands/logs/filter.ts';
import { selfCommand } from '../../../../src/cli/self-command.ts';

const TIME = '2026-11-26T13:00:00.000Z';

const line = (fields: object = {}): string =>
  JSON.stringify({
    level: 'info',
    time: TIME,
    tree: 'shop/web',
    jobID: '8f527d72-acd7',
    ...fields,
    msg: 'seen',
  });

const filterFor = (wanted: Partial<Wanted> = {}): LogFilter => new LogFilter({ level: 'trace', ...wanted });

describe('a log line', () => {
  const root = { name: 'web', namespace: 'shop' };
  const at = Date.parse(TIME);
  const rows: readonly (readonly [string, Partial<Wanted>, string, boolean])[] = [
    ['is selected if all are wanted', {}, line(), true],
    ['is selected if all are wanted and it has no tree', {}, line({ tree: undefined }), true],
    ['is selected by its tree', root, line(), true],
    ['is not selected if its tree has another name', root, line({ tree: 'shop/db' }), false],
    ['is not selected if its tree is in another namespace', root, line({ tree: 'test/web' }), false],
    ['is not selected if it has no tree', root, line({ tree: undefined }), false],
    ['is selected by the name of its tree', { name: 'web' }, line({ tree: 'test/web' }), true],
    ['is not selected by the end of that name', { name: 'b' }, line(), false],
    ['is selected by the namespace of its tree', { namespace: 'shop' }, line(), true],
    ['is not selected by another namespace', { namespace: 'test' }, line(), false],
    ['is selected by its level', { level: 'info' }, line(), true],
    ['is selected if it is more severe', { level: 'warn' }, line({ level: 'error' }), true],
    ['is not selected if it is less severe', { level: 'warn' }, line(), false],
    ['is selected if its level is unknown', { level: 'error' }, line({ level: 'fatal' }), true],
    ['is selected by the beginning of its job', { job: '8f52' }, line(), true],
    ['is not selected if its job is another one', { job: '8f53' }, line(), false],
    ['is not selected if it has no job', { job: '8f52' }, line({ jobID: undefined }), false],
    ['is selected if it is young enough', { sinceMs: at }, line(), true],
    ['is not selected if it is too old', { sinceMs: at + 1 }, line(), false],
    ['is not selected if it is not JSON', {}, '13:00:00.000 info seen', false],
    ['is not selected if its JSON is broken', {}, '{"level":', false],
    ['is not selected if it has no message', {}, '{"kind":"Pod"}', false],
  ];
  for (const [title, wanted, raw, isSelected] of rows)
    it(title, () => {
      expect(filterFor(wanted).select(raw)?.raw).to.equal(isSelected ? raw : undefined);
    });
});

describe('the explanation why no line was selected', () => {
  const explained = (wanted: Partial<Wanted>, ...lines: readonly string[]): string | undefined => {
    const filter = filterFor(wanted);
    for (const each of lines) filter.select(each);
    return filter.explanation('app.log');
  };
  const root = { name: 'db', namespace: 'shop' };

  it('is not needed if there are some', () => {
    expect(explained({}, line())).to.equal(undefined);
  });

  it('says that the log has another format', () => {
    const text = 'app.log has no lines in the JSON format; write the log with --log-format json';
    expect(explained({}, '13:00:00.000 info seen', '')).to.equal(text);
  });

  it('names the root of an installation that is not one', () => {
    const part = {
      'resource.kind': 'Installation',
      'resource.namespace': 'shop',
      'resource.name': 'db',
    };
    expect(explained({ ...root, level: 'error' }, line(part))).to.equal(
      `Installation shop/db is not a root, but part of the tree shop/web; show its lines with: ${selfCommand()} logs web -n shop`,
    );
  });

  it('names the tree and the number of lines', () => {
    expect(explained(root, line(), 'text')).to.equal(
      'no matching lines of the tree shop/db among 1 in app.log',
    );
  });

  it('names the namespace', () => {
    const text = 'no matching lines of namespace test among 1 in app.log';
    expect(explained({ namespace: 'test' }, line())).to.equal(text);
  });

  it('names the options that limit the lines', () => {
    const text = 'no matching lines among 1 in app.log; --since, --level and --job limit them';
    expect(explained({ level: 'error' }, line())).to.equal(text);
    expect(explained({ job: 'x' }, line())).to.equal(text);
    expect(explained({ sinceMs: Infinity }, line())).to.equal(text);
  });

  it('names an empty log', () => {
    expect(explained({})).to.equal('no matching lines among 0 in app.log');
  });
});
