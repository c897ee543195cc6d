export { refuse, type Interception, type Interceptor, type RecordedRequest } from '@tenure/runtime/testing'
export { crdFor, TestControlPlane, type ObjectChange, type TestControlPlaneOptions } from './test-control-plane.ts'
