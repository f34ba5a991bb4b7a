// Replaces the planner by test/support/planner/backwards.ts, for a whole process: node --import THIS_FILE.
import { register } from 'node:module';

const hook = `
  const isPlanner = (url) => url.split('?')[0].endsWith('/src/lib/plan.ts');
  export async function resolve(specifier, context, next) {
    const found = await next(specifier, context);
    if (!isPlanner(found.url) || context.parentURL?.includes('/test/support/planner/')) return found;
    return { ...found, url: found.url.replace('/src/lib/plan.ts', '/test/support/planner/backwards.ts') };
  }
`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
