/**
 * Replays transcripts of kubectl against the subject. ESPALIER_RECORD_TRANSCRIPTS=1 with ESPALIER_TEST_KUBECONFIG
 * records them again from an unused kube-apiserver.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { KubectlSubject, whyNot } from './subject.ts';
import { parseTranscript, printTranscript, type Section } from './transcript.ts';
import { skip } from '../../support/skip.ts';

const FOLDER = join(import.meta.dirname, 'transcripts');
const isRecording = process.env['ESPALIER_RECORD_TRANSCRIPTS'] === '1';

describe('kubectl', function () {
  this.timeout(120_000);
  const subject = new KubectlSubject();
  before(async function () {
    const reason = whyNot();
    if (reason !== undefined) skip(this, reason);
    await subject.start();
  });
  after(() => subject.stop());

  for (const file of readdirSync(FOLDER).sort()) {
    const path = join(FOLDER, file);
    const sections = parseTranscript(readFileSync(path, 'utf8'));
    const heard: Section[] = [];
    describe(file.replace(/\.txt$/, ''), () => {
      for (const section of sections) {
        it(section.title, async () => {
          const run = await subject.section(section.namespace);
          const now: Section = { ...section, exchanges: [] };
          for (const { command } of section.exchanges)
            now.exchanges.push({ command, answer: await run(command) });
          heard.push(now);
          if (isRecording) return;
          // one by one, because a whole section is too long to read when it differs
          for (const [i, exchange] of section.exchanges.entries()) {
            expect(printTranscript([{ ...now, exchanges: now.exchanges.slice(i, i + 1) }])).to.equal(
              printTranscript([{ ...section, exchanges: [exchange] }]),
            );
          }
        });
      }
      if (isRecording)
        after(() => {
          writeFileSync(path, printTranscript(heard));
        });
    });
  }
});
