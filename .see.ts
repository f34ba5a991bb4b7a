import { cases } from './test/unit/blueprint/lint/cases.ts';
import { inspect, lineOf, sound } from './test/unit/blueprint/lint/sound.ts';
for (const c of cases) { const f=c.file??'blueprint.yaml'; const got=(await inspect({...sound,[f]:sound[f]!.replace(c.replace,c.by)})).map(lineOf);
 if(!got.includes(c.says)) console.log(c.title,'\n  want',c.says,'\n  got ',got.join('\n       ')); else if (got.length>2) console.log('MANY',c.title,got.filter(x=>x!==c.says)); }
