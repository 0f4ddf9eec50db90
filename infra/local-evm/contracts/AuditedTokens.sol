// SPDX-License-Identifier: MIT
pragma solidity 0.8.28;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ERC1967Proxy} from "@openzeppelin/contracts/proxy/ERC1967/ERC1967Proxy.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Pausable} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Pausable.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";

/// Nothing but an ERC-20 with a fixed supply.
contract PlainToken is ERC20 {
    constructor(address holder) ERC20("Plain", "PLN") {
        _mint(holder, 1_000_000 ether);
    }
}

/// Its owner can mint and pause.
contract ManagedToken is ERC20Pausable, Ownable {
    constructor(address owner_, address holder) ERC20("Managed", "MNG") Ownable(owner_) {
        _mint(holder, 1_000_000 ether);
    }

    function mint(address to, uint256 value) external onlyOwner {
        _mint(to, value);
    }

    function pause() external onlyOwner {
        _pause();
    }
}

/// What it does can be replaced.
contract ProxiedToken is ERC1967Proxy {
    constructor(address implementation) ERC1967Proxy(implementation, abi.encodeCall(ERC20.totalSupply, ())) {}
}

/// Three NFTs of one holder, with ids 1 to 3.
contract PlainCollection is ERC721 {
    constructor(address holder) ERC721("Plain Collection", "COL") {
        for (uint256 id = 1; id <= 3; id++) _mint(holder, id);
    }
}
