// Stands for modules that the kubelet's packages load and the kubelet never uses.
module.exports = {};
