export { Discovery } from './discovery.ts'
