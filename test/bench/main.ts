/** `npm run bench -- [trees|templating] [N]`: measures; asserts nothing. */
import { benchTemplating } from './templating.ts';
import { benchTrees } from './trees.ts';

const [what = 'all', count = '100'] = process.argv.slice(2);
if (what === 'all' || what === 'templating') benchTemplating();
if (what === 'all' || what === 'trees') await benchTrees(Number(count));
