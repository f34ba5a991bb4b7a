// Preloaded into the product: counts how often the blocks of its code are executed, and the bytes that it allocates. Neither
// depends on the speed or the load of the machine. For each message it sends what was counted since the last one.
import { Session } from 'node:inspector';
import { GCProfiler, getHeapStatistics } from 'node:v8';

// Template processes inherit the options of Node.js, but not the arguments of the product.
if (process.argv[2] === 'start') await count();

async function count() {
  const session = new Session();
  session.connect();
  await post(session, 'Profiler.enable');
  await post(session, 'Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  let heap = heapFromNow();
  process.on('message', async () => {
    const allocatedBytes = heap.allocated();
    process.send({ executedBlocks: await executed(session), allocatedBytes });
    heap = heapFromNow();
  });
  // The channel must not keep the product alive.
  process.channel?.unref();
}

function post(session, method, params) {
  return new Promise((resolve, reject) => {
    session.post(method, params, (error, result) => (error ? reject(error) : resolve(result)));
  });
}

/** Executions since the last call, of the product's own code and its packages. */
async function executed(session) {
  const { result } = await post(session, 'Profiler.takePreciseCoverage');
  return result
    .filter(({ url }) => url.startsWith('file:'))
    .flatMap(({ functions }) => functions)
    .flatMap(({ ranges }) => ranges)
    .reduce((sum, { count }) => sum + count, 0);
}

/** What is allocated is what the heap grows by between two garbage collections. */
function heapFromNow() {
  const first = getHeapStatistics().used_heap_size;
  const profiler = new GCProfiler();
  profiler.start();
  return {
    allocated() {
      let [bytes, used] = [0, first];
      for (const { beforeGC, afterGC } of profiler.stop()?.statistics ?? []) {
        bytes += beforeGC.heapStatistics.usedHeapSize - used;
        used = afterGC.heapStatistics.usedHeapSize;
      }
      return bytes + getHeapStatistics().used_heap_size - used;
    },
  };
}
