export { silentLogger } from './log.ts'
