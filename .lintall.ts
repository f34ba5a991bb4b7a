import {readdirSync,readFileSync,writeFileSync} from 'node:fs';
import {toYaml} from './src/lib/yaml.ts';
import {stringify} from 'yaml';
import {blueprintsAt} from './src/cli/blueprint-sources.ts';
import {inspectBlueprint} from './src/blueprint/lint/inspect.ts';
import {findingText} from './src/cli/print-findings.ts';
import pico from 'picocolors';
const index=JSON.parse(readFileSync('/tmp/lint-index.json','utf8'));
const tally:Record<string,number>={};
for (const n of Object.keys(index)) {
  const doc=JSON.parse(readFileSync(`/tmp/lintcorpus/${n}.json`,'utf8'));
  const file=`/tmp/lintcorpus/${n}.yaml`;
  writeFileSync(file,stringify(doc,{lineWidth:0,blockQuote:'literal'}));
  let found;
  try { found=await blueprintsAt(file,()=>''); } catch(e:any){ console.log('##',n,index[n].phases.join(','),'UNREADABLE',e.message); continue; }
  const findings=(await Promise.all(found.map(f=>inspectBlueprint(f.input)))).flat();
  const ok=index[n].phases.includes('Succeeded') && !index[n].phases.includes('Failed');
  for (const f of findings){ const k=f.rule+(ok?' OK-INST':''); tally[k]=(tally[k]??0)+1; if (f.rule==='unknown-field'&&f.message.includes('"jsonSchema"')) continue;
    if ((ok&&f.level!=='info')||process.argv[2]==='all') console.log(n,index[n].phases.join(','),'\n'+findingText(f,{paint:pico.createColors(false),columns:150})); }
  if (!ok && !findings.some(f=>f.level==='error')) console.log('-- no error found:',n,'::',(index[n].err??'').slice(0,200).replace(/\n/g,' '));
}
console.log(tally);
