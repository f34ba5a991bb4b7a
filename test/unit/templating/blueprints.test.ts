/** Executions as blueprints have them: each has the same result as the original engine in Go. */
import { expect } from 'chai';
import { seededRng } from '../../../src/lib/rng.ts';
import { fileTreeOf } from '../../../src/lib/file-tree.ts';
import { renderExecution, renderText, renderWithState } from '../../../src/templating/render.ts';
import {
  recordedAnswers,
  topics,
  type BlueprintCase,
  type Engine,
  type RecordedAnswer,
  messageOf,
} from '../../support/blueprints.ts';
import { FakeClock } from '../../support/clock.ts';

const optionsOf = ({ files = {} }: BlueprintCase) => ({
  clock: new FakeClock(),
  rng: seededRng(1),
  files: fileTreeOf(new Map(Object.entries(files).map(([path, text]) => [path, Buffer.from(text)]))),
});

const render: Readonly<Record<Engine, (it: BlueprintCase) => RecordedAnswer>> = {
  gotemplate(it) {
    const execution = { type: 'GoTemplate', template: it.template };
    const lines = renderText(execution, it.values, optionsOf(it)).split('\n');
    try {
      return { lines, result: renderExecution(execution, it.values, optionsOf(it)) };
    } catch (error) {
      return { lines, error: messageOf(error) };
    }
  },
  spiff(it) {
    const execution = { type: 'Spiff', template: it.template };
    const { output, state } = renderWithState(execution, it.values, optionsOf(it), it.stored ?? {});
    return { result: output, state: state?.state };
  },
};

/** Go's line numbers are off by one in some errors, or missing. */
const withoutLine = (error: string): string =>
  error.replace(/^(error converting YAML to JSON: )?yaml: (line \d+: )?/, 'yaml: ');

/** The original lists problems of one kind in random order. */
const inOrder = (error: string): string => {
  const [head = '', ...entries] = error.split(/\n\t(?=\(\( )/);
  return [head, ...entries.sort()].join('\n\t');
};

function answerTo(engine: Engine, it: BlueprintCase): RecordedAnswer {
  try {
    return render[engine](it);
  } catch (error) {
    return { error: messageOf(error) };
  }
}

const comparable = (answer: RecordedAnswer | undefined): RecordedAnswer | undefined =>
  answer?.error === undefined ? answer : { ...answer, error: inOrder(withoutLine(answer.error)) };

describe('executions of blueprints', () => {
  for (const topic of topics) {
    const recorded = recordedAnswers(topic);
    describe(`of ${topic.engine}: ${topic.name}`, () => {
      for (const each of topic.cases) {
        it(each.name, () => {
          expect(comparable(answerTo(topic.engine, each))).to.deep.equal(comparable(recorded[each.name]));
        });
      }
    });
  }

  it('are at least forty for each engine', () => {
    for (const engine of ['gotemplate', 'spiff'] as const) {
      const count = topics.filter((it) => it.engine === engine).flatMap(({ cases }) => cases).length;
      expect(count, engine).to.be.at.least(40);
    }
  });
});
