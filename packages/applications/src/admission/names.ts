import { GROUP } from '../api/index.ts'

/** Name of both webhooks, each in its own configuration. */
export const WEBHOOK_NAME = `applications.${GROUP}`
export const VALIDATE_PATH = '/validate'
export const MUTATE_PATH = '/mutate'
