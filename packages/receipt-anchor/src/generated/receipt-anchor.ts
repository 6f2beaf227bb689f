// Made by `pnpm --filter @tallygate/receipt-anchor compile` from contracts/; not to be edited.
export const receiptAnchor = {
  "compiler": "0.8.37+commit.f401782d.Emscripten.clang",
  "settings": {
    "optimizer": {
      "enabled": true,
      "runs": 1000
    },
    "evmVersion": "shanghai",
    "metadata": {
      "bytecodeHash": "none"
    }
  },
  "abi": [
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "firstPublisher",
          "type": "address"
        }
      ],
      "stateMutability": "nonpayable",
      "type": "constructor"
    },
    {
      "inputs": [],
      "name": "Inconsistent",
      "type": "error"
    },
    {
      "inputs": [
        {
          "internalType": "uint64",
          "name": "latestSize",
          "type": "uint64"
        }
      ],
      "name": "NotGrowing",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "NotOwner",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "NotPublisher",
      "type": "error"
    },
    {
      "anonymous": false,
      "inputs": [
        {
          "indexed": true,
          "internalType": "uint64",
          "name": "size",
          "type": "uint64"
        },
        {
          "indexed": true,
          "internalType": "bytes32",
          "name": "root",
          "type": "bytes32"
        },
        {
          "indexed": true,
          "internalType": "address",
          "name": "publisher",
          "type": "address"
        }
      ],
      "name": "AnchoredState",
      "type": "event"
    },
    {
      "anonymous": false,
      "inputs": [
        {
          "indexed": true,
          "internalType": "address",
          "name": "owner",
          "type": "address"
        }
      ],
      "name": "OwnerChanged",
      "type": "event"
    },
    {
      "anonymous": false,
      "inputs": [
        {
          "indexed": true,
          "internalType": "address",
          "name": "publisher",
          "type": "address"
        },
        {
          "indexed": false,
          "internalType": "bool",
          "name": "allowed",
          "type": "bool"
        }
      ],
      "name": "PublisherSet",
      "type": "event"
    },
    {
      "inputs": [],
      "name": "acceptOwnership",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "bytes32",
          "name": "root",
          "type": "bytes32"
        },
        {
          "internalType": "uint64",
          "name": "size",
          "type": "uint64"
        },
        {
          "internalType": "bytes32[]",
          "name": "path",
          "type": "bytes32[]"
        }
      ],
      "name": "anchor",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "bytes32",
          "name": "root",
          "type": "bytes32"
        }
      ],
      "name": "anchors",
      "outputs": [
        {
          "internalType": "uint64",
          "name": "size",
          "type": "uint64"
        },
        {
          "internalType": "uint64",
          "name": "time",
          "type": "uint64"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "bytes32",
          "name": "root",
          "type": "bytes32"
        },
        {
          "internalType": "uint64",
          "name": "index",
          "type": "uint64"
        },
        {
          "internalType": "bytes32",
          "name": "leaf",
          "type": "bytes32"
        },
        {
          "internalType": "bytes32[]",
          "name": "path",
          "type": "bytes32[]"
        }
      ],
      "name": "isIncluded",
      "outputs": [
        {
          "internalType": "bool",
          "name": "",
          "type": "bool"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        }
      ],
      "name": "isPublisher",
      "outputs": [
        {
          "internalType": "bool",
          "name": "",
          "type": "bool"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "latestRoot",
      "outputs": [
        {
          "internalType": "bytes32",
          "name": "",
          "type": "bytes32"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "latestSize",
      "outputs": [
        {
          "internalType": "uint64",
          "name": "",
          "type": "uint64"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "nextOwner",
      "outputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "to",
          "type": "address"
        }
      ],
      "name": "offerOwnership",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "owner",
      "outputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "publisher",
          "type": "address"
        },
        {
          "internalType": "bool",
          "name": "allowed",
          "type": "bool"
        }
      ],
      "name": "setPublisher",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    }
  ],
  "bytecode": "0x608060405234801561000f575f5ffd5b50604051610c84380380610c8483398101604081905261002e916100da565b60028054600160401b600160e01b03191633680100000000000000008102919091179091556040517fa2ea9883a321a3e97b8266c2b078bfeec6d50c711ed71f874a90d500ae2eaf36905f90a26001600160a01b0381165f81815260046020908152604091829020805460ff1916600190811790915591519182527f7caa8f8f06897e1155bc1f07edd62aa5b0c96ea5f16f620688d633a9769ff4b8910160405180910390a250610107565b5f602082840312156100ea575f5ffd5b81516001600160a01b0381168114610100575f5ffd5b9392505050565b610b70806101145f395ff3fe608060405234801561000f575f5ffd5b50600436106100c4575f3560e01c806369f3331d1161007d5780638e3e92f2116100585780638e3e92f2146101b9578063b01b6d53146101cc578063d7b0fef114610226575f5ffd5b806369f3331d1461016757806379ba5097146101925780638da5cb5b1461019a575f5ffd5b8063497a71cd116100ad578063497a71cd1461012c578063618bb07914610141578063651bb3c914610154575f5ffd5b80631293ed37146100c857806341859ac8146100fa575b5f5ffd5b6002546100dc9067ffffffffffffffff1681565b60405167ffffffffffffffff90911681526020015b60405180910390f35b61011c610108366004610995565b60046020525f908152604090205460ff1681565b60405190151581526020016100f1565b61013f61013a366004610a14565b61023d565b005b61013f61014f366004610a6a565b6103fb565b61011c610162366004610aa3565b610490565b60035461017a906001600160a01b031681565b6040516001600160a01b0390911681526020016100f1565b61013f6104cb565b60025461017a906801000000000000000090046001600160a01b031681565b61013f6101c7366004610995565b610577565b6102056101da366004610b06565b5f6020819052908152604090205467ffffffffffffffff808216916801000000000000000090041682565b6040805167ffffffffffffffff9384168152929091166020830152016100f1565b61022f60015481565b6040519081526020016100f1565b335f9081526004602052604090205460ff16610285576040517f6cc8883a00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b60025467ffffffffffffffff90811690841681106102df576040517fd0eb8e0300000000000000000000000000000000000000000000000000000000815267ffffffffffffffff8216600482015260240160405180910390fd5b5f67ffffffffffffffff8216156103055761030082600154878988886105dd565b610308565b82155b905080610341576040517ff0aeb8ee00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b60408051808201825267ffffffffffffffff80881680835242821660208085019182525f8c815290819052858120945185549251851668010000000000000000027fffffffffffffffffffffffffffffffff000000000000000000000000000000009093169416939093171790925560018990556002805467ffffffffffffffff191683179055915133928992917fbec712809f35d52250dc5a3eab783f93526bf1b0f1467575c2a0183ff1afe67d9190a4505050505050565b6002546801000000000000000090046001600160a01b03163314610432576040516330cd747160e01b815260040160405180910390fd5b6001600160a01b0382165f81815260046020908152604091829020805460ff191685151590811790915591519182527f7caa8f8f06897e1155bc1f07edd62aa5b0c96ea5f16f620688d633a9769ff4b8910160405180910390a25050565b5f8581526020819052604081205467ffffffffffffffff1680158015906104c057506104c08782888888886107fc565b979650505050505050565b6003546001600160a01b031633146104f6576040516330cd747160e01b815260040160405180910390fd5b600280547fffffffff0000000000000000000000000000000000000000ffffffffffffffff1633680100000000000000008102919091179091556003805473ffffffffffffffffffffffffffffffffffffffff191690556040517fa2ea9883a321a3e97b8266c2b078bfeec6d50c711ed71f874a90d500ae2eaf36905f90a2565b6002546801000000000000000090046001600160a01b031633146105ae576040516330cd747160e01b815260040160405180910390fd5b6003805473ffffffffffffffffffffffffffffffffffffffff19166001600160a01b0392909216919091179055565b5f67ffffffffffffffff8716158061060957508467ffffffffffffffff168767ffffffffffffffff1610155b1561061557505f6107f2565b5f610621600189610b1d565b90505f61062f600188610b1d565b90505b6001808316900361065857677fffffffffffffff600192831c8116929190911c16610632565b875f67ffffffffffffffff84161561069e575f86900361067e575f9450505050506107f2565b86865f81811061069057610690610b4f565b905060200201359150600190505b815b868210156107c8578367ffffffffffffffff165f036106c6575f955050505050506107f2565b600180861614806106ea57508367ffffffffffffffff168567ffffffffffffffff16145b156107835761071188888481811061070457610704610b4f565b905060200201358461094a565b925061073588888481811061072857610728610b4f565b905060200201358261094a565b90505b60018516158015610752575067ffffffffffffffff851615155b1561077e5760018567ffffffffffffffff16901c945060018467ffffffffffffffff16901c9350610738565b6107a8565b6107a58189898581811061079957610799610b4f565b9050602002013561094a565b90505b677fffffffffffffff600195861c81169594851c169391909101906106a0565b67ffffffffffffffff84161580156107df57508a83145b80156107ea57508881145b955050505050505b9695505050505050565b5f8567ffffffffffffffff168567ffffffffffffffff161061081f57505f6107f2565b845f61082c600189610b1d565b9050855f5b85811015610924578267ffffffffffffffff165f03610856575f9450505050506107f2565b6001808516148061087a57508267ffffffffffffffff168467ffffffffffffffff16145b156108ef576108a187878381811061089457610894610b4f565b905060200201358361094a565b91505b600184161580156108be575067ffffffffffffffff841615155b156108ea5760018467ffffffffffffffff16901c935060018367ffffffffffffffff16901c92506108a4565b610908565b6109058288888481811061079957610799610b4f565b91505b677fffffffffffffff600194851c81169493841c169201610831565b5067ffffffffffffffff821615801561093c57508981145b9a9950505050505050505050565b5f6040516001815383600182015282602182015260205f60418360025afa610970575f5ffd5b50505f5192915050565b80356001600160a01b0381168114610990575f5ffd5b919050565b5f602082840312156109a5575f5ffd5b6109ae8261097a565b9392505050565b803567ffffffffffffffff81168114610990575f5ffd5b5f5f83601f8401126109dc575f5ffd5b50813567ffffffffffffffff8111156109f3575f5ffd5b6020830191508360208260051b8501011115610a0d575f5ffd5b9250929050565b5f5f5f5f60608587031215610a27575f5ffd5b84359350610a37602086016109b5565b9250604085013567ffffffffffffffff811115610a52575f5ffd5b610a5e878288016109cc565b95989497509550505050565b5f5f60408385031215610a7b575f5ffd5b610a848361097a565b915060208301358015158114610a98575f5ffd5b809150509250929050565b5f5f5f5f5f60808688031215610ab7575f5ffd5b85359450610ac7602087016109b5565b935060408601359250606086013567ffffffffffffffff811115610ae9575f5ffd5b610af5888289016109cc565b969995985093965092949392505050565b5f60208284031215610b16575f5ffd5b5035919050565b67ffffffffffffffff8281168282160390811115610b4957634e487b7160e01b5f52601160045260245ffd5b92915050565b634e487b7160e01b5f52603260045260245ffdfea164736f6c6343000825000a"
} as const;
