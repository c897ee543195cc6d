// npm run test:cluster: the tests on a real Kubernetes cluster, which is built once, started and stopped.
import { runSteps } from './run.ts'

await runSteps([{ name: 'cluster', tool: 'vitest', args: ['run', '--project', 'cluster', ...process.argv.slice(2)] }])
