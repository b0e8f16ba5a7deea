// The ring queue as other folders use it: make one, push on one thread, drain on one other.
export { createRing, type RingBuffers } from "./ring-view.js";
export { RingProducer } from "./ring-producer.js";
export { RingConsumer } from "./ring-consumer.js";
