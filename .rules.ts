import { ruleTable } from './src/blueprint/lint/inspect.ts';
for (const [t, rules] of Object.entries(ruleTable)) { console.log(`\n### ${t}\n\n| Rule | | Finds |\n|---|---|---|`); for (const [n,{level,about}] of Object.entries(rules)) console.log(`| \`${n}\` | ${level} | ${about} |`); }
