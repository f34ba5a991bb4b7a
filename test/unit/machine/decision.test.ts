import { expect } from 'chai';
import { installationKind } from '../../../src/api/kinds/installation.ts';
import { annotations } from '../../../src/api/labels.ts';
import { asText, named, PhaseError, touch } from '../../../src/machine/decision.ts';
import { child, execution, installation, item } from '../../support/given.ts';

describe('an error of a phase', () => {
  it('is a problem that ends the job, with the given message', () => {
    const error = new PhaseError('o', 'r', 'm');
    expect(error.outcome).to.equal('fail');
    expect(error.problem).to.deep.equal({ operation: 'o', reason: 'r', message: 'm', codes: [] });
    expect(error.conditions).to.deep.equal([]);
  });

  it('has codes, and says if an external server is the cause', () => {
    const { problem } = new PhaseError('o', 'r', 'm', ['ERR_TIMEOUT'], { remote: 'NameNotFound' });
    expect(problem).to.deep.include({ codes: ['ERR_TIMEOUT'], remote: 'NameNotFound' });
  });

  it('has the text form of upstream', () => {
    const problem = { operation: 'o', reason: 'r', message: 'm' };
    expect(asText(problem)).to.equal('Op: o - Reason: r - Message: m');
  });
});

describe('an awaited object', () => {
  const rows = [
    [child('stack', 'a'), 'installation a-x'],
    [execution('plan'), 'execution plan'],
    [item('plan', 'a'), 'deploy item plan-a-x'],
  ] as const;
  for (const [object, name] of rows) {
    it(`is named ${name}`, () => {
      expect(named(object)).to.equal(name);
    });
  }
});

describe('a write that changes only the resource version', () => {
  const bodyOf = (meta: object) => touch(installationKind, installation('web', { meta }));
  const rows: readonly (readonly [string, object, string | null])[] = [
    ['sets the annotation', {}, 'true'],
    ['sets it besides others', { annotations: { mine: 'yes' } }, 'true'],
    ['removes it the next time', { annotations: { [annotations.touch]: 'true' } }, null],
  ];
  for (const [title, meta, value] of rows) {
    it(`${title}, so that the version of the object changes`, () => {
      expect(bodyOf(meta)).to.deep.include({
        do: 'patch',
        body: { metadata: { annotations: { [annotations.touch]: value } } },
      });
    });
  }
});
