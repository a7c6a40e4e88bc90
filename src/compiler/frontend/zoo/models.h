// The builders of the zoo's models, one file each; the list that names them is in zoo.cpp.
#pragma once

namespace onnx {
class ModelProto;
}

namespace attune::zoo {

::onnx::ModelProto alexnet();
::onnx::ModelProto bert_tiny();
::onnx::ModelProto dcgan();
::onnx::ModelProto densenet121();
::onnx::ModelProto dqn();
::onnx::ModelProto inception_v3();
::onnx::ModelProto lstm_lm();
::onnx::ModelProto lstm_lm_35();
::onnx::ModelProto mlp();
::onnx::ModelProto mobilenet_v2();
::onnx::ModelProto resnet18();
::onnx::ModelProto resnet50();
::onnx::ModelProto squeezenet1_1();
::onnx::ModelProto vgg19();

}  // namespace attune::zoo
